"""Presentation: how does a person see a result? Displays, pictures, pages, the studio, published studies."""
