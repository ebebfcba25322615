/// A value that must not appear in a log, a crash report, a debugger's summary or an error message.
///
/// Everything that prints or reflects a `Secret` shows `‹redacted›`. The value itself is reached through
/// ``reveal()``, a name that stands out when code is reviewed.
///
/// ```swift
/// let passphrase = Secret("correct horse battery staple")
/// print(passphrase)            // ‹redacted›
/// use(passphrase.reveal())
/// ```
public struct Secret<Value> {
    private let value: Value

    /// Wraps a value.
    ///
    /// - Parameter value: What is to be kept out of every printed form.
    public init(_ value: Value) {
        self.value = value
    }

    /// The wrapped value, in clear.
    ///
    /// - Returns: What was given to ``init(_:)``.
    public func reveal() -> Value {
        value
    }
}

extension Secret: Sendable where Value: Sendable {}

/// What is printed in place of a secret, by every type of this module that holds one.
let redactedText = "‹redacted›"

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// Always `‹redacted›`.
    public var debugDescription: String { redactedText }

    /// A mirror with one child, `‹redacted›`, so that `dump` shows nothing either.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct)
    }
}
