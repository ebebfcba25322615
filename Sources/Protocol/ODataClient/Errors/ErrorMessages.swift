import Foundation
import Synchronization

/// Gives messages for error codes in a language: the app's own texts, or none to leave it to the next.
public protocol ErrorMessageProvider: Sendable {
    /// The message with `{name}` where an argument goes; `nil` where this provider has none.
    ///
    /// - Parameters:
    ///   - key: an error code such as `service.not-found`, or `recovery.` and the name of a `RecoveryAction`.
    ///   - locale: an identifier such as `de_AT` or `de`.
    func message(_ key: String, locale: String) -> String?
}

/// Messages by locale and key.
public struct ErrorMessageTable: ErrorMessageProvider {
    private let messages: [String: [String: String]]

    /// Makes a table.
    ///
    /// - Parameter messages: by locale (`de_AT`, `de`), then by key.
    public init(_ messages: [String: [String: String]]) { self.messages = messages }

    /// Reads a table of one locale from JSON: an object of strings.
    ///
    /// - Throws: `DecodingError`.
    public init(json: Data, locale: String) throws {
        messages = [locale: try JSONDecoder().decode([String: String].self, from: json)]
    }

    /// The message.
    public func message(_ key: String, locale: String) -> String? { messages[locale]?[key] }
}

/// The messages for errors, in the language of whoever reads them.
///
/// A message is looked up in four steps: language and region, language, the localizations that the app prefers,
/// English. Every step asks the app's own providers first, the newest before the older, then what comes with the
/// package (English and German).
///
/// ```swift
/// ErrorMessages.install(ErrorMessages.standard.adding(
///     ErrorMessageTable(["de_AT": ["service.not-found": "Des gibt's ned."]])))
/// let text = ErrorDiagnosis(error).message(locale: "de_AT")
/// ```
public struct ErrorMessages: Sendable {
    private var providers: [any ErrorMessageProvider]
    /// The localizations that the app prefers, best first.
    public var preferredLocalizations: [String]

    /// What comes with the package.
    public static let standard = ErrorMessages()

    private static let installed = Mutex(ErrorMessages.standard)

    /// The messages in use.
    public static var current: ErrorMessages { installed.withLock { $0 } }

    /// Replaces the messages in use, for the whole process.
    public static func install(_ messages: ErrorMessages) { installed.withLock { $0 = messages } }

    /// Makes messages with the package's own texts.
    public init(preferredLocalizations: [String] = Bundle.main.preferredLocalizations) {
        providers = [ErrorMessageTable(["en": english, "de": german])]
        self.preferredLocalizations = preferredLocalizations
    }

    /// The same messages with others before them.
    public func adding(_ provider: any ErrorMessageProvider) -> ErrorMessages {
        var messages = self
        messages.providers.insert(provider, at: 0)
        return messages
    }

    /// A message with its arguments put in.
    ///
    /// - Parameters:
    ///   - locale: an identifier such as `de-AT` or `de_AT`; `nil` for the current one.
    ///   - arguments: what `{name}` stands for; names without an argument disappear.
    /// - Returns: `nil` where nobody has a message, not even in English.
    public func text(_ key: String, locale: String? = nil, arguments: [String: String] = [:]) -> String? {
        for candidate in candidates(locale ?? Locale.current.identifier) {
            for provider in providers {
                if let template = provider.message(key, locale: candidate) {
                    return Self.filled(template, arguments)
                }
            }
        }
        return nil
    }

    private func candidates(_ locale: String) -> [String] {
        let parts = locale.split { $0 == "-" || $0 == "_" || $0 == "@" || $0 == "." }.map { String($0) }
        var all: [String] = []
        if parts.count > 1 { all.append("\(parts[0].lowercased())_\(parts[1].uppercased())") }
        if let language = parts.first { all.append(language.lowercased()) }
        for preferred in preferredLocalizations {
            all.append(preferred.replacing("-", with: "_"))
            if let language = preferred.split(whereSeparator: { $0 == "-" || $0 == "_" }).first {
                all.append(language.lowercased())
            }
        }
        return all + ["en"]
    }

    private static func filled(_ template: String, _ arguments: [String: String]) -> String {
        var text = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            // What is put in is never looked at again: it may hold braces.
            text += arguments[String(rest[rest.index(after: open)..<close])] ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}
