"""Readers of native libraries: what they find in well-made files and that no file makes them raise."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from exhaustive import tried
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_files import CUBIN, FAMILY, LTO, PTX, SPECIFIC, dll, elf, fatbin, image

from torchlift.doctor.native.elf import Elf
from torchlift.doctor.native.fatbin import read_device_code
from torchlift.doctor.native.source import Source, Unreadable

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")
TWO_FATBINS = fatbin(image(CUBIN, 80), image(CUBIN, 90, SPECIFIC)) + fatbin(
    image(CUBIN, 80), image(PTX, 120, header=112)
)


def found(tmp_path: Path, data: bytes) -> tuple[dict[str, int], str | None]:
    path = tmp_path / "libx.so"
    path.write_bytes(data)
    code = read_device_code(str(path))
    return {f"{one.kind} {one.architecture}{' rdc' * one.relocatable}": n for one, n in code.images.items()}, code.error


def test_images_of_all_fatbins_of_a_section_are_counted(tmp_path: Path) -> None:
    assert found(tmp_path, elf([(".text", b"code"), (".nv_fatbin", TWO_FATBINS)])) == (
        {"sass 80": 2, "sass 90a": 1, "ptx 120": 1},
        None,
    )


def test_family_code_and_architecture_specific_code_are_told_apart(tmp_path: Path) -> None:
    data = fatbin(image(CUBIN, 103, FAMILY, header=104), image(PTX, 100, 0x208011), image(CUBIN, 121, 0x1108011))
    assert found(tmp_path, elf([(".nv_fatbin", data)])) == ({"sass 103f": 1, "ptx 100f": 1, "sass 121a": 1}, None)


def test_relocatable_code_and_linked_code_of_one_library_are_both_seen(tmp_path: Path) -> None:
    sections = [("__nv_relfatbin", fatbin(image(PTX, 80), image(LTO, 80))), (".nv_fatbin", fatbin(image(CUBIN, 75)))]
    assert found(tmp_path, elf(sections)) == ({"ptx 80 rdc": 1, "lto 80 rdc": 1, "sass 75": 1}, None)


def test_zeros_between_fatbins_are_skipped(tmp_path: Path) -> None:
    data = fatbin(image(CUBIN, 75, payload=b"abc")) + bytes(5) + fatbin(image(CUBIN, 80)) + bytes(100_000)
    assert found(tmp_path, elf([(".nv_fatbin", data)])) == ({"sass 75": 1, "sass 80": 1}, None)


def test_device_code_of_a_windows_dll_is_found_under_the_cut_section_name(tmp_path: Path) -> None:
    assert found(tmp_path, dll([(".text", b"code"), (".nv_fatbin", TWO_FATBINS)]))[0] == {
        "sass 80": 2,
        "sass 90a": 1,
        "ptx 120": 1,
    }


def test_a_library_without_device_code_has_none_and_no_error(tmp_path: Path) -> None:
    assert found(tmp_path, elf([(".text", b"code")])) == ({}, None)


def test_an_image_kind_newer_than_the_reader_is_named_by_its_number(tmp_path: Path) -> None:
    assert found(tmp_path, elf([(".nv_fatbin", fatbin(image(77, 200)))])) == ({"kind-77 200": 1}, None)


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"", "is empty"),
        (b"\x7fELF", "ends inside its header"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is neither an ELF nor a Windows library"),
        (b"MZ" + bytes(10), "ends inside its header"),
        (elf([(".nv_fatbin", TWO_FATBINS)])[:200], "ends inside its section table"),
        (elf([(".nv_fatbin", fatbin(image(CUBIN, 80, header=0)))]), "has a broken device code header at byte"),
        (elf([(".nv_fatbin", fatbin(image(CUBIN, 80))[:-4])]), "has a broken fatbin header at byte"),
        (elf([(".nv_fatbin", b"garbage!" * 9)]), "has bytes that are no fatbin"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, data: bytes, clause: str) -> None:
    images, error = found(tmp_path, data)
    assert images == {}
    assert error is not None
    assert clause in error


def test_images_before_a_break_are_kept(tmp_path: Path) -> None:
    images, error = found(tmp_path, elf([(".nv_fatbin", fatbin(image(CUBIN, 80)) + b"\xff" * 64)]))
    assert images == {"sass 80": 1}
    assert error is not None


def test_a_missing_file_and_a_folder_are_errors_and_not_exceptions(tmp_path: Path) -> None:
    assert read_device_code(str(tmp_path / "no.so")).error == "cannot be opened: No such file or directory"
    assert read_device_code(str(tmp_path)).error is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "libx.so")
    assert read_device_code(str(tmp_path / "libx.so")).error == "is not a regular file"


ENDLESS = {
    "one section of many images": [(".nv_fatbin", fatbin(*[image(CUBIN, 80)] * 200))],
    "many fatbins in one section": [(".nv_fatbin", fatbin(image(CUBIN, 80)) * 200)],
    "many sections of one image": [(".nv_fatbin", fatbin(image(CUBIN, 80)))] * 200,
}


@pytest.mark.parametrize("sections", ENDLESS.values(), ids=ENDLESS)
def test_a_library_that_leads_from_place_to_place_is_left_after_a_while(
    sections: list[tuple[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = elf(sections)
    assert found(tmp_path, data) == ({"sass 80": 200}, None)
    monkeypatch.setattr("torchlift.doctor.native.source._MOST_READS", 100)
    images, error = found(tmp_path, data)
    assert images.get("sass 80", 0) < 100
    assert error is not None and "leads from place to place without an end" in error


@needs_cc
def test_symbols_that_lead_from_place_to_place_are_left_after_a_while(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchlift.doctor.native.source._MOST_READS", 20)
    with Source(str(real)) as source, pytest.raises(Unreadable, match="leads from place to place without an end"):
        library = Elf(source)
        for _ in range(1000):
            library.defines("alpha")


WELL_MADE = (elf([(".nv_fatbin", TWO_FATBINS), ("__nv_relfatbin", TWO_FATBINS)]), dll([(".nv_fatbin", TWO_FATBINS)]))


@settings(
    max_examples=tried(100, 300), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_no_damaged_file_makes_a_reader_raise_anything_but_its_own_error(tmp_path: Path, data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(WELL_MADE)))
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(0, len(damaged) - 1), st.integers(0, 255)), max_size=6)
    ):
        damaged[place] = byte
    read_everything(tmp_path, bytes(damaged[: data.draw(st.integers(0, len(damaged)))]))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=400), start=st.sampled_from([b"", b"\x7fELF\x02\x01", b"MZ"]))
def test_random_bytes_make_no_reader_raise(tmp_path: Path, noise: bytes, start: bytes) -> None:
    read_everything(tmp_path, start + noise)


@needs_cc
@settings(max_examples=tried(80, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), max_size=8), length=st.integers(0, 20_000)
)
def test_a_damaged_real_library_makes_no_reader_raise(
    tmp_path: Path, real: Path, places: list[tuple[int, int]], length: int
) -> None:
    damaged = bytearray(real.read_bytes())
    for place, byte in places:
        damaged[place % len(damaged)] = byte
    read_everything(tmp_path, bytes(damaged[:length] if length else damaged))


def read_everything(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "noise.so"
    path.write_bytes(data)
    read_device_code(str(path))
    with Source(str(path)) as source:
        for question in (
            lambda elf: elf.needed,
            lambda elf: elf.search_path("/x/y.so"),
            lambda elf: list(elf.undefined()),
            lambda elf: elf.defines("alpha"),
        ):
            try:
                question(Elf(source))
            except Unreadable as error:
                assert str(error)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert CC is not None
    folder = tmp_path_factory.mktemp("real")
    (folder / "base.c").write_text("int base_value(void) { return 1; }\n")
    (folder / "top.c").write_text(
        "int base_value(void); int absent(void); extern int maybe(void) __attribute__((weak));\n"
        "static int hidden(void) { return 2; }\n"
        "int alpha(void) { return base_value() + hidden(); } int beta(void) { return absent() + (maybe ? maybe() : 0); }\n"
    )
    base = [
        CC,
        "-shared",
        "-fPIC",
        "-o",
        str(folder / "libbase.so.3"),
        "-Wl,-soname,libbase.so.3",
        str(folder / "base.c"),
    ]
    top = [CC, "-shared", "-fPIC", "-o", str(folder / "libtop.so"), str(folder / "top.c"), str(folder / "libbase.so.3")]
    subprocess.run(base, check=True)
    subprocess.run(
        [*top, "-Wl,-rpath,$ORIGIN/../dep:/opt/x", "-Wl,-soname,libtop.so", "-Wl,--hash-style=gnu"], check=True
    )
    return folder / "libtop.so"


@needs_cc
def test_what_a_real_library_needs_defines_and_lacks_is_read(real: Path) -> None:
    with Source(str(real)) as source:
        library = Elf(source)
        assert library.needed[0] == "libbase.so.3"
        assert library.search_path("/site/pkg/libtop.so") == ("/site/dep", "/opt/x")
        assert [library.defines(name) for name in ("alpha", "beta", "hidden", "base_value", "gamma")] == [
            True,
            True,
            False,
            False,
            False,
        ]
        undefined = set(library.undefined())
    assert {"base_value", "absent"} <= undefined
    assert not {"maybe", "alpha"} & undefined


@needs_cc
@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
def test_symbols_are_found_through_every_kind_of_hash_table(tmp_path: Path, style: str) -> None:
    assert CC is not None
    names = [f"symbol_{number}" for number in range(300)]
    (tmp_path / "many.c").write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in names))
    path = tmp_path / "many.so"
    subprocess.run([CC, "-shared", "-fPIC", f"-Wl,--hash-style={style}", "-o", path, tmp_path / "many.c"], check=True)
    with Source(str(path)) as source:
        library = Elf(source)
        assert all(library.defines(name) for name in names)
        assert not any(library.defines(f"symbol_{number}") for number in range(300, 900))


@needs_cc
def test_symbols_of_a_library_without_a_hash_table_are_counted_by_its_section(real: Path, tmp_path: Path) -> None:
    gnu_hash = struct.pack("<Q", 0x6FFFFEF5)
    data = real.read_bytes()
    assert data.count(gnu_hash) == 1
    (tmp_path / "libtop.so").write_bytes(data.replace(gnu_hash, struct.pack("<Q", 0x6FFFFE00)))
    with Source(str(tmp_path / "libtop.so")) as source:
        library = Elf(source)
        assert library.defines("alpha") and not library.defines("gamma")
        assert {"base_value", "absent"} <= set(library.undefined())


@needs_cc
def test_device_code_in_a_section_that_a_real_compiler_made_is_found(tmp_path: Path) -> None:
    assert CC is not None
    numbers = ",".join(str(byte) for byte in TWO_FATBINS)
    source = f'__attribute__((section(".nv_fatbin"), used)) static const unsigned char data[] = {{{numbers}}};\n'
    (tmp_path / "f.c").write_text(source)
    subprocess.run([CC, "-shared", "-fPIC", "-o", tmp_path / "libf.so", tmp_path / "f.c"], check=True)
    assert found(tmp_path, (tmp_path / "libf.so").read_bytes())[0] == {"sass 80": 2, "sass 90a": 1, "ptx 120": 1}


def test_a_library_that_nvcc_built_holds_what_it_was_told_to_build(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    (tmp_path / "k.cu").write_text("__global__ void k(float *x) { x[0] = 1; }\nvoid go(float *x) { k<<<1, 1>>>(x); }\n")
    codes = ["arch=compute_80,code=[sm_80,compute_80]", "arch=compute_90a,code=sm_90a"]
    command = [
        nvcc,
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "--cudart=none",
        "-o",
        str(tmp_path / "k.so"),
        str(tmp_path / "k.cu"),
    ]
    for code in codes:
        command += ["-gencode", code]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"nvcc does not work here: {built.stderr.strip()[:200]}")
    images, error = found(tmp_path, (tmp_path / "k.so").read_bytes())
    assert (images, error) == ({"sass 80": 1, "ptx 80": 1, "sass 90a": 1}, None)
    cuobjdump = shutil.which("cuobjdump")
    if cuobjdump:
        listing = subprocess.run(
            [cuobjdump, "--list-elf", tmp_path / "k.so"], capture_output=True, text=True, check=True
        )
        assert listing.stdout.count("sm_80") == listing.stdout.count("sm_90a") == 1
