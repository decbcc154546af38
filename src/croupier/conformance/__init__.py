"""The conformance tester: which clause of its protocol does a program break, and how is it shown?"""
