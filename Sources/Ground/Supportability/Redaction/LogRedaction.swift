/// A removal of secrets from records. An app can add its own rules by wrapping another redaction.
///
/// ```swift
/// struct WithoutNames: LogRedaction {
///     let base = SecretRedaction()
///     func redacted(_ record: LogRecord) -> LogRecord {
///         var record = base.redacted(record)
///         record.metadata["customer"] = nil
///         return record
///     }
/// }
/// ```
public protocol LogRedaction: Sendable {
    /// Returns the record without secrets.
    func redacted(_ record: LogRecord) -> LogRecord
}

/// A redaction that removes recognisable secrets:
///
/// - the values of metadata, fields and header fields with names such as `password`, `token`, `authorization`,
///   `cookie`, `secret` or `api-key`, in text of the form `name: value`, `name=value`, `"name": "value"` and
///   `<name>value</name>`;
/// - the credentials after `Bearer`, `Basic`, `Digest` and `Negotiate`;
/// - the user part of URLs, and the values in their queries: `Orders?$filter=‹redacted›&$top=‹redacted›`;
/// - JSON Web Tokens, private keys in PEM form, and keys of 64 hexadecimal digits.
///
/// The redaction recognises forms, so it misses secrets without a typical form, for example in free text. Use
/// ``KnownTextRedaction`` for a log that is given to people who must not see the logged values.
///
/// In doubt, the redaction removes too much. It reads a text once, in linear time, and does not change a text
/// that is already redacted.
public struct SecretRedaction: LogRedaction {
    /// The text that replaces a secret.
    public static let mark = "‹redacted›"

    /// The names with secret values, as parts of names in lower case without `-`, `_` and `.`.
    public static let standardNames: Set<String> = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "authenticate", "cookie",
        "credential", "apikey", "privatekey", "encryptionkey", "accesskey", "accountkey", "functionskey", "sharedkey",
        "subscriptionkey", "session", "signature", "jwt", "assertion",
        // The word for password in other languages, if it consists of plain Latin letters.
        "passwort", "kennwort", "motdepasse", "contrasena", "senha", "wachtwoord", "adgangskode", "salasana", "heslo",
    ]

    /// Names that are secret only as a whole, because they are also parts of harmless words.
    private static let wholeNames: Set<String> = [
        "pwd", "pin", "otp", "sid", "sig", "auth", "salt", "xsrf", "csrf", "pass", "pw", "psw", "mdp",
    ]

    private let names: [[UInt8]]
    private let whole: Set<[UInt8]>

    /// - Parameter further: Additional names with secret values, in any case. They also match parts of names.
    public init(further: some Sequence<String> = []) {
        let further = further.map { Self.normalised($0.utf8[...]) }.filter { !$0.isEmpty }
        names = Self.standardNames.map { Array($0.utf8) } + further
        whole = Set(Self.wholeNames.map { Array($0.utf8) })
    }

    /// Returns the record with its tag, message and metadata redacted.
    public func redacted(_ record: LogRecord) -> LogRecord {
        var record = record
        record.tag = redacted(record.tag)
        record.message = redacted(record.message)
        for (name, value) in record.metadata {
            let key = Self.normalised(name.utf8[...])
            if isSecret(key) {
                record.metadata[name] = Self.mark
            } else if key.starts(with: Array("query".utf8)) {
                // A query without a URL has no question mark by which it can be recognised.
                record.metadata[name] = String(redacted("?" + value).dropFirst())
            } else {
                record.metadata[name] = redacted(value)
            }
        }
        return record
    }

    /// Returns the text without secrets.
    public func redacted(_ text: String) -> String {
        var redactor = TextRedactor(text, rules: self)
        return redactor.run()
    }

    /// Returns whether the values of a name, such as that of a header field, may be secret.
    package static func mayNameSecret(_ name: String) -> Bool { standard.isSecret(normalised(name.utf8)) }

    private static let standard = SecretRedaction()

    /// Returns whether the values of a name are secret.
    func isSecret(_ name: [UInt8]) -> Bool {
        if whole.contains(name) { return true }
        return names.contains { part in
            guard part.count <= name.count else { return false }
            return (0...(name.count - part.count)).contains { name[$0...].starts(with: part) }
        }
    }

    /// Returns a name in lower case without separators.
    static func normalised(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.compactMap { byte in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "$"): nil
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
            default: byte
            }
        }
    }
}
