"""`torch._vendor`: what torch carries of other projects, as far as others import it from there."""
