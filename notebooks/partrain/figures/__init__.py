"""One pure function a figure: numbers in, a picture and its sentence out."""
