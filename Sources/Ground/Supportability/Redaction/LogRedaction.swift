/// Takes secrets out of records; an app adds its own knowledge by wrapping ours.
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
    /// The record without secrets.
    func redacted(_ record: LogRecord) -> LogRecord
}

/// Takes out what is known to be secret:
///
/// - the values of metadata, fields and header fields with names such as `password`, `token`, `authorization`,
///   `cookie`, `secret` or `api-key`, in text of the form `name: value`, `name=value`, `"name": "value"` and
///   `<name>value</name>`;
/// - what follows `Bearer`, `Basic`, `Digest` and `Negotiate`;
/// - the user part of URLs, and the values in their queries: `Orders?$filter=‹redacted›&$top=‹redacted›`;
/// - JSON Web Tokens, private keys in PEM form, and keys as 64 hexadecimal digits.
///
/// It looks for forms, and so cannot know every secret: free text of a service or a person may hold one that looks like nothing
/// in particular. A log that leaves the hands of those whose values it may hold takes a ``KnownTextRedaction`` instead.
///
/// In doubt it takes out too much. It goes through a text once, in time proportional to its length, and a
/// redacted text stays as it is when it is redacted again.
public struct SecretRedaction: LogRedaction {
    /// What stands in place of a secret.
    public static let mark = "‹redacted›"

    /// The names whose values are secret, as parts of names in lower case without `-`, `_` and `.`.
    public static let standardNames: Set<String> = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "authenticate", "cookie",
        "credential", "apikey", "privatekey", "encryptionkey", "accesskey", "accountkey", "functionskey", "sharedkey",
        "subscriptionkey", "session", "signature", "jwt", "assertion",
        // The word for password in other languages, as far as it has Latin letters without marks.
        "passwort", "kennwort", "motdepasse", "contrasena", "senha", "wachtwoord", "adgangskode", "salasana", "heslo",
    ]

    /// Names that are secret only as a whole, because they are parts of harmless words.
    private static let wholeNames: Set<String> = [
        "pwd", "pin", "otp", "sid", "sig", "auth", "salt", "xsrf", "csrf", "pass", "pw", "psw", "mdp",
    ]

    private let names: [[UInt8]]
    private let whole: Set<[UInt8]>

    /// - Parameter further: More names whose values are secret, in any case; parts of names count.
    public init(further: some Sequence<String> = []) {
        let further = further.map { Self.normalised($0.utf8[...]) }.filter { !$0.isEmpty }
        names = Self.standardNames.map { Array($0.utf8) } + further
        whole = Set(Self.wholeNames.map { Array($0.utf8) })
    }

    /// The record with its tag, message and metadata redacted.
    public func redacted(_ record: LogRecord) -> LogRecord {
        var record = record
        record.tag = redacted(record.tag)
        record.message = redacted(record.message)
        for (name, value) in record.metadata {
            let key = Self.normalised(name.utf8[...])
            if isSecret(key) {
                record.metadata[name] = Self.mark
            } else if key.starts(with: Array("query".utf8)) {
                // A query that stands alone has no question mark to be known by.
                record.metadata[name] = String(redacted("?" + value).dropFirst())
            } else {
                record.metadata[name] = redacted(value)
            }
        }
        return record
    }

    /// The text without secrets.
    public func redacted(_ text: String) -> String {
        var redactor = TextRedactor(text, rules: self)
        return redactor.run()
    }

    /// Whether the values of a name, such as that of a header field, may be secret.
    package static func mayNameSecret(_ name: String) -> Bool { standard.isSecret(normalised(name.utf8)) }

    private static let standard = SecretRedaction()

    /// Whether the values of a name are secret.
    func isSecret(_ name: [UInt8]) -> Bool {
        if whole.contains(name) { return true }
        return names.contains { part in
            guard part.count <= name.count else { return false }
            return (0...(name.count - part.count)).contains { name[$0...].starts(with: part) }
        }
    }

    /// A name in lower case without the characters that join words.
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
