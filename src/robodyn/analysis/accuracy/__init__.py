"""Accuracy figures of standards: how accurate and repeatable is a robot (ISO 9283), how round a circle (ISO 230-4)?"""
