"""Names of Gymnasium that environments are made of, and what to install where there are none."""

try:
    from gymnasium import Env
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    message = "robodyn.exchange.gym needs gymnasium: pip install 'robodyn[gymnasium]'"
    raise ImportError(message, name="gymnasium") from error

__all__ = ["AutoresetMode", "Box", "Env", "VectorEnv", "batch_space"]
