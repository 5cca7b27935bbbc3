"""What data show of an attribute, and the role that this points to."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.data.dictionary import Role


@dataclass(frozen=True)
class RoleEvidence:
    """What the values of an attribute show, and the role that it points to.

    Sure is what leaves no other reading (a check digit that holds everywhere, names of countries);
    anything else is a sign, which raises a doubt.
    """

    role: Role
    reason: str
    topic: str = ""
    is_sure: bool = False

    def contradicts(self, role: Role | None) -> bool:
        """Whether a role is called into question: only a stricter one calls a laxer one."""
        if role is None or role == self.role:
            return False
        order: dict[Role, int] = {"non_identifying": 0, "sensitive": 1, "quasi_identifier": 2}
        return order.get(self.role, 3) > order.get(role, 3)
