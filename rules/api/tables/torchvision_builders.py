"""The model builders of torchvision that took `pretrained=`: what their `weights=` is called.

Read from the decorators (`handle_legacy_interface`) of torchvision 0.28.0, 2026-11-21: each names the enumeration member that
`pretrained=True` stands for. torchvision 0.13, which torch 1.12 goes with, brought them.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Builder:
    """One model builder.

    Attributes:
        package: package below `torchvision.models` that it is public in, or empty.
        module: module in that package which defines it.
        name: its name.
        weights: what `pretrained=True` stands for, as a name in its package; empty where there are no weights, so that it raises.
        quantized: what it stands for with `quantize=True`.
        backbone: what `pretrained_backbone=True` stands for, as a name in `torchvision.models`.
        backbone_position: position of that parameter.
    """

    package: str
    module: str
    name: str
    weights: str
    quantized: str = ""
    backbone: str = ""
    backbone_position: int = 0

    @property
    def home(self) -> str:
        """The package it is public in, with its full name."""
        return f"torchvision.models.{self.package}".rstrip(".")

    @property
    def names(self) -> tuple[str, str]:
        """The names it can be reached by: public, and by its module."""
        return f"{self.home}.{self.name}", f"{self.home}.{self.module}.{self.name}"


# package, module, then one builder a line: name, weights, and for those that have one the backbone and its position.
_TABLE = """
[- alexnet]
alexnet AlexNet_Weights.IMAGENET1K_V1
[- convnext]
convnext_tiny ConvNeXt_Tiny_Weights.IMAGENET1K_V1
convnext_small ConvNeXt_Small_Weights.IMAGENET1K_V1
convnext_base ConvNeXt_Base_Weights.IMAGENET1K_V1
convnext_large ConvNeXt_Large_Weights.IMAGENET1K_V1
[- densenet]
densenet121 DenseNet121_Weights.IMAGENET1K_V1
densenet161 DenseNet161_Weights.IMAGENET1K_V1
densenet169 DenseNet169_Weights.IMAGENET1K_V1
densenet201 DenseNet201_Weights.IMAGENET1K_V1
[detection backbone_utils]
[detection faster_rcnn]
fasterrcnn_resnet50_fpn FasterRCNN_ResNet50_FPN_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
fasterrcnn_resnet50_fpn_v2 FasterRCNN_ResNet50_FPN_V2_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
fasterrcnn_mobilenet_v3_large_320_fpn FasterRCNN_MobileNet_V3_Large_320_FPN_Weights.COCO_V1 backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1 at=3
fasterrcnn_mobilenet_v3_large_fpn FasterRCNN_MobileNet_V3_Large_FPN_Weights.COCO_V1 backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1 at=3
[detection fcos]
fcos_resnet50_fpn FCOS_ResNet50_FPN_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
[detection keypoint_rcnn]
keypointrcnn_resnet50_fpn KeypointRCNN_ResNet50_FPN_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=4
[detection mask_rcnn]
maskrcnn_resnet50_fpn MaskRCNN_ResNet50_FPN_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
maskrcnn_resnet50_fpn_v2 MaskRCNN_ResNet50_FPN_V2_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
[detection retinanet]
retinanet_resnet50_fpn RetinaNet_ResNet50_FPN_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
retinanet_resnet50_fpn_v2 RetinaNet_ResNet50_FPN_V2_Weights.COCO_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=3
[detection ssd]
ssd300_vgg16 SSD300_VGG16_Weights.COCO_V1 backbone=VGG16_Weights.IMAGENET1K_FEATURES at=3
[detection ssdlite]
ssdlite320_mobilenet_v3_large SSDLite320_MobileNet_V3_Large_Weights.COCO_V1 backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1 at=3
[- efficientnet]
efficientnet_b0 EfficientNet_B0_Weights.IMAGENET1K_V1
efficientnet_b1 EfficientNet_B1_Weights.IMAGENET1K_V1
efficientnet_b2 EfficientNet_B2_Weights.IMAGENET1K_V1
efficientnet_b3 EfficientNet_B3_Weights.IMAGENET1K_V1
efficientnet_b4 EfficientNet_B4_Weights.IMAGENET1K_V1
efficientnet_b5 EfficientNet_B5_Weights.IMAGENET1K_V1
efficientnet_b6 EfficientNet_B6_Weights.IMAGENET1K_V1
efficientnet_b7 EfficientNet_B7_Weights.IMAGENET1K_V1
efficientnet_v2_s EfficientNet_V2_S_Weights.IMAGENET1K_V1
efficientnet_v2_m EfficientNet_V2_M_Weights.IMAGENET1K_V1
efficientnet_v2_l EfficientNet_V2_L_Weights.IMAGENET1K_V1
[- googlenet]
googlenet GoogLeNet_Weights.IMAGENET1K_V1
[- inception]
inception_v3 Inception_V3_Weights.IMAGENET1K_V1
[- maxvit]
maxvit_t MaxVit_T_Weights.IMAGENET1K_V1
[- mnasnet]
mnasnet0_5 MNASNet0_5_Weights.IMAGENET1K_V1
mnasnet0_75 MNASNet0_75_Weights.IMAGENET1K_V1
mnasnet1_0 MNASNet1_0_Weights.IMAGENET1K_V1
mnasnet1_3 MNASNet1_3_Weights.IMAGENET1K_V1
[- mobilenetv2]
mobilenet_v2 MobileNet_V2_Weights.IMAGENET1K_V1
[- mobilenetv3]
mobilenet_v3_large MobileNet_V3_Large_Weights.IMAGENET1K_V1
mobilenet_v3_small MobileNet_V3_Small_Weights.IMAGENET1K_V1
[optical_flow raft]
raft_large Raft_Large_Weights.C_T_SKHT_V2
raft_small Raft_Small_Weights.C_T_V2
[quantization googlenet]
googlenet GoogLeNet_Weights.IMAGENET1K_V1 quantized=GoogLeNet_QuantizedWeights.IMAGENET1K_FBGEMM_V1
[quantization inception]
inception_v3 Inception_V3_Weights.IMAGENET1K_V1 quantized=Inception_V3_QuantizedWeights.IMAGENET1K_FBGEMM_V1
[quantization mobilenetv2]
mobilenet_v2 MobileNet_V2_Weights.IMAGENET1K_V1 quantized=MobileNet_V2_QuantizedWeights.IMAGENET1K_QNNPACK_V1
[quantization mobilenetv3]
mobilenet_v3_large MobileNet_V3_Large_Weights.IMAGENET1K_V1 quantized=MobileNet_V3_Large_QuantizedWeights.IMAGENET1K_QNNPACK_V1
[quantization resnet]
resnet18 ResNet18_Weights.IMAGENET1K_V1 quantized=ResNet18_QuantizedWeights.IMAGENET1K_FBGEMM_V1
resnet50 ResNet50_Weights.IMAGENET1K_V1 quantized=ResNet50_QuantizedWeights.IMAGENET1K_FBGEMM_V1
resnext101_32x8d ResNeXt101_32X8D_Weights.IMAGENET1K_V1 quantized=ResNeXt101_32X8D_QuantizedWeights.IMAGENET1K_FBGEMM_V1
resnext101_64x4d ResNeXt101_64X4D_Weights.IMAGENET1K_V1 quantized=ResNeXt101_64X4D_QuantizedWeights.IMAGENET1K_FBGEMM_V1
[quantization shufflenetv2]
shufflenet_v2_x0_5 ShuffleNet_V2_X0_5_Weights.IMAGENET1K_V1 quantized=ShuffleNet_V2_X0_5_QuantizedWeights.IMAGENET1K_FBGEMM_V1
shufflenet_v2_x1_0 ShuffleNet_V2_X1_0_Weights.IMAGENET1K_V1 quantized=ShuffleNet_V2_X1_0_QuantizedWeights.IMAGENET1K_FBGEMM_V1
shufflenet_v2_x1_5 ShuffleNet_V2_X1_5_Weights.IMAGENET1K_V1 quantized=ShuffleNet_V2_X1_5_QuantizedWeights.IMAGENET1K_FBGEMM_V1
shufflenet_v2_x2_0 ShuffleNet_V2_X2_0_Weights.IMAGENET1K_V1 quantized=ShuffleNet_V2_X2_0_QuantizedWeights.IMAGENET1K_FBGEMM_V1
[- regnet]
regnet_y_400mf RegNet_Y_400MF_Weights.IMAGENET1K_V1
regnet_y_800mf RegNet_Y_800MF_Weights.IMAGENET1K_V1
regnet_y_1_6gf RegNet_Y_1_6GF_Weights.IMAGENET1K_V1
regnet_y_3_2gf RegNet_Y_3_2GF_Weights.IMAGENET1K_V1
regnet_y_8gf RegNet_Y_8GF_Weights.IMAGENET1K_V1
regnet_y_16gf RegNet_Y_16GF_Weights.IMAGENET1K_V1
regnet_y_32gf RegNet_Y_32GF_Weights.IMAGENET1K_V1
regnet_y_128gf -
regnet_x_400mf RegNet_X_400MF_Weights.IMAGENET1K_V1
regnet_x_800mf RegNet_X_800MF_Weights.IMAGENET1K_V1
regnet_x_1_6gf RegNet_X_1_6GF_Weights.IMAGENET1K_V1
regnet_x_3_2gf RegNet_X_3_2GF_Weights.IMAGENET1K_V1
regnet_x_8gf RegNet_X_8GF_Weights.IMAGENET1K_V1
regnet_x_16gf RegNet_X_16GF_Weights.IMAGENET1K_V1
regnet_x_32gf RegNet_X_32GF_Weights.IMAGENET1K_V1
[- resnet]
resnet18 ResNet18_Weights.IMAGENET1K_V1
resnet34 ResNet34_Weights.IMAGENET1K_V1
resnet50 ResNet50_Weights.IMAGENET1K_V1
resnet101 ResNet101_Weights.IMAGENET1K_V1
resnet152 ResNet152_Weights.IMAGENET1K_V1
resnext50_32x4d ResNeXt50_32X4D_Weights.IMAGENET1K_V1
resnext101_32x8d ResNeXt101_32X8D_Weights.IMAGENET1K_V1
resnext101_64x4d ResNeXt101_64X4D_Weights.IMAGENET1K_V1
wide_resnet50_2 Wide_ResNet50_2_Weights.IMAGENET1K_V1
wide_resnet101_2 Wide_ResNet101_2_Weights.IMAGENET1K_V1
[segmentation deeplabv3]
deeplabv3_resnet50 DeepLabV3_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=4
deeplabv3_resnet101 DeepLabV3_ResNet101_Weights.COCO_WITH_VOC_LABELS_V1 backbone=ResNet101_Weights.IMAGENET1K_V1 at=4
deeplabv3_mobilenet_v3_large DeepLabV3_MobileNet_V3_Large_Weights.COCO_WITH_VOC_LABELS_V1 backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1 at=4
[segmentation fcn]
fcn_resnet50 FCN_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1 backbone=ResNet50_Weights.IMAGENET1K_V1 at=4
fcn_resnet101 FCN_ResNet101_Weights.COCO_WITH_VOC_LABELS_V1 backbone=ResNet101_Weights.IMAGENET1K_V1 at=4
[segmentation lraspp]
lraspp_mobilenet_v3_large LRASPP_MobileNet_V3_Large_Weights.COCO_WITH_VOC_LABELS_V1 backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1 at=3
[- shufflenetv2]
shufflenet_v2_x0_5 ShuffleNet_V2_X0_5_Weights.IMAGENET1K_V1
shufflenet_v2_x1_0 ShuffleNet_V2_X1_0_Weights.IMAGENET1K_V1
shufflenet_v2_x1_5 ShuffleNet_V2_X1_5_Weights.IMAGENET1K_V1
shufflenet_v2_x2_0 ShuffleNet_V2_X2_0_Weights.IMAGENET1K_V1
[- squeezenet]
squeezenet1_0 SqueezeNet1_0_Weights.IMAGENET1K_V1
squeezenet1_1 SqueezeNet1_1_Weights.IMAGENET1K_V1
[- swin_transformer]
swin_t Swin_T_Weights.IMAGENET1K_V1
swin_s Swin_S_Weights.IMAGENET1K_V1
swin_b Swin_B_Weights.IMAGENET1K_V1
swin_v2_t Swin_V2_T_Weights.IMAGENET1K_V1
swin_v2_s Swin_V2_S_Weights.IMAGENET1K_V1
swin_v2_b Swin_V2_B_Weights.IMAGENET1K_V1
[- vgg]
vgg11 VGG11_Weights.IMAGENET1K_V1
vgg11_bn VGG11_BN_Weights.IMAGENET1K_V1
vgg13 VGG13_Weights.IMAGENET1K_V1
vgg13_bn VGG13_BN_Weights.IMAGENET1K_V1
vgg16 VGG16_Weights.IMAGENET1K_V1
vgg16_bn VGG16_BN_Weights.IMAGENET1K_V1
vgg19 VGG19_Weights.IMAGENET1K_V1
vgg19_bn VGG19_BN_Weights.IMAGENET1K_V1
[video mvit]
mvit_v1_b MViT_V1_B_Weights.KINETICS400_V1
mvit_v2_s MViT_V2_S_Weights.KINETICS400_V1
[video resnet]
r3d_18 R3D_18_Weights.KINETICS400_V1
mc3_18 MC3_18_Weights.KINETICS400_V1
r2plus1d_18 R2Plus1D_18_Weights.KINETICS400_V1
[video s3d]
s3d S3D_Weights.KINETICS400_V1
[video swin_transformer]
swin3d_t Swin3D_T_Weights.KINETICS400_V1
swin3d_s Swin3D_S_Weights.KINETICS400_V1
swin3d_b Swin3D_B_Weights.KINETICS400_V1
[- vision_transformer]
vit_b_16 ViT_B_16_Weights.IMAGENET1K_V1
vit_b_32 ViT_B_32_Weights.IMAGENET1K_V1
vit_l_16 ViT_L_16_Weights.IMAGENET1K_V1
vit_l_32 ViT_L_32_Weights.IMAGENET1K_V1
vit_h_14 -
"""


def _builders() -> Iterator[Builder]:
    package = module = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith("["):
            package, module = line.strip("[]").split()
            package = package.strip("-")
            continue
        name, weights, *rest = line.split()
        more = dict(item.split("=") for item in rest)
        yield Builder(
            package,
            module,
            name,
            weights.strip("-"),
            more.get("quantized", ""),
            more.get("backbone", ""),
            int(more.get("at", 0)),
        )


BUILDERS = {name: builder for builder in _builders() for name in builder.names}
