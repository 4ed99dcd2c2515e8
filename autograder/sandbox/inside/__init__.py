"""What runs on the far side of the wall: copied into the sandbox, and never importing anything of the teacher's."""
