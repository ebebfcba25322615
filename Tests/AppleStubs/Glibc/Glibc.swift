// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// In place of the system's module of this name, which Foundation exports on Linux: so Foundation exports Darwin,
// as on Apple's platforms, and a name of Linux alone is not found.

@_exported import Darwin
