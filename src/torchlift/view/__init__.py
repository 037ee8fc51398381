"""The module view: what one file means, as far as Python alone can tell."""

from torchlift.view.flow import ReachingDefinitions
from torchlift.view.module import ModuleView, ProjectNames, Resolution, Spelling, Use
from torchlift.view.scopes import Binding, Scope

__all__ = ["Binding", "ModuleView", "ProjectNames", "ReachingDefinitions", "Resolution", "Scope", "Spelling", "Use"]
