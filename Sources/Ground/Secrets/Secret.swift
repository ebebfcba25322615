/// A value that must not appear in a log, a crash report, a debugger's summary or an error message.
///
/// Printing or reflecting a `Secret` shows `‹redacted›`. The value is accessed with ``reveal()``, a name that
/// stands out in code reviews.
///
/// ```swift
/// let passphrase = Secret("correct horse battery staple")
/// print(passphrase)            // ‹redacted›
/// let protection = StoreProtection.encrypted(.passphrase(passphrase))
/// ```
public struct Secret<Value> {
    private let value: Value

    /// Wraps a value.
    ///
    /// - Parameter value: The value to keep out of every printed form.
    public init(_ value: Value) {
        self.value = value
    }

    /// Returns the wrapped value in clear.
    public func reveal() -> Value {
        value
    }
}

extension Secret: Sendable where Value: Sendable {}

/// The text that replaces a secret in print, for every type of this module that contains one.
let redactedText = "‹redacted›"

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// Always `‹redacted›`.
    public var debugDescription: String { redactedText }

    /// A mirror with the single child `‹redacted›`, so that `dump` reveals nothing either.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct)
    }
}
