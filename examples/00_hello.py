"""The smallest program: import the package and see that it is the one the headers belong to."""
import karakuri

print(f"karakuri {karakuri.__version__}")
assert karakuri.__version__ == karakuri.c.KK_VERSION
