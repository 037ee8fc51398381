"""The module view: what one file means, as far as Python alone can tell."""

from torchlift.view.flow import ReachingDefinitions
from torchlift.view.module import ModuleView
from torchlift.view.names import Resolution
from torchlift.view.scopes import Binding, Scope
from torchlift.view.spelling import Spelling
from torchlift.view.uses import ProjectNames, Use

__all__ = ["Binding", "ModuleView", "ProjectNames", "ReachingDefinitions", "Resolution", "Scope", "Spelling", "Use"]
