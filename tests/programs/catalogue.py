"""Every refactoring by its name."""

from __future__ import annotations

from tests.programs import editing, moving, parting
from tests.programs.hands import Refactoring

REFACTORINGS: dict[str, Refactoring] = {
    each.__name__: each
    for each in (
        editing.rename_function,
        editing.rename_class,
        editing.rename_constant,
        editing.rename_and_edit,
        editing.edit_body,
        editing.edit_doc,
        editing.edit_note,
        editing.edit_fields,
        editing.decorate,
        editing.change_signature,
        editing.add_function,
        editing.delete_function,
        editing.duplicate,
        moving.move_function,
        moving.move_and_rename,
        moving.move_rename_edit,
        moving.move_method,
        moving.rename_file,
        moving.rename_directory,
        moving.split_file,
        moving.merge_files,
        moving.reorder,
        moving.swap_methods,
        moving.reformat,
        parting.extract,
        parting.inline,
        parting.split_function,
    )
}
# Of these nothing but the layout may be told, and of most not even that.
LAYOUT = ("reorder", "swap_methods", "reformat")
NAMES = sorted(REFACTORINGS)
