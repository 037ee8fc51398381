"""TL6: C++, CUDA and CMake."""
