import Foundation
import Synchronization

/// A source of localized messages for error codes, such as an app's own texts.
public protocol ErrorMessageProvider: Sendable {
    /// Returns a message with `{name}` in the places of arguments, or `nil` if this provider has none.
    ///
    /// - Parameters:
    ///   - key: An error code such as `service.not-found`, or `recovery.` and the name of a ``RecoveryAction``.
    ///   - locale: An identifier such as `de_AT` or `de`.
    func message(_ key: String, locale: String) -> String?
}

/// A table of messages by locale and key.
///
/// ```swift
/// let texts = ErrorMessageTable(["de": ["service.not-found": "Das gibt es nicht."]])
/// ErrorMessages.install(ErrorMessages.standard.adding(texts))
/// ```
public struct ErrorMessageTable: ErrorMessageProvider {
    private let messages: [String: [String: String]]

    /// Creates a table.
    ///
    /// - Parameter messages: The messages by locale (`de_AT`, `de`) and then by key.
    public init(_ messages: [String: [String: String]]) { self.messages = messages }

    /// Creates a table for one locale from JSON, an object of strings.
    ///
    /// - Throws: `DecodingError`.
    public init(json: Data, locale: String) throws {
        messages = [locale: try JSONDecoder().decode([String: String].self, from: json)]
    }

    /// Returns the message for a key, or `nil` if the table does not contain it.
    public func message(_ key: String, locale: String) -> String? { messages[locale]?[key] }
}

/// The messages for errors in the language of the user.
///
/// A message is searched in four steps: language and region, language, the preferred localizations of the app,
/// English. In each step, the app's own providers come first, the newest before the older ones. The built-in
/// messages in English and German come last.
///
/// ```swift
/// ErrorMessages.install(ErrorMessages.standard.adding(
///     ErrorMessageTable(["de_AT": ["service.not-found": "Des gibt's ned."]])))
/// let text = ErrorMessages.current.message(for: error, locale: "de_AT")
/// ```
public struct ErrorMessages: Sendable {
    private var providers: [any ErrorMessageProvider]
    /// The preferred localizations of the app, best first.
    public var preferredLocalizations: [String]

    /// The built-in messages alone.
    public static let standard = ErrorMessages()

    private static let installed = Mutex(ErrorMessages.standard)

    /// The installed messages of the process.
    public static var current: ErrorMessages { installed.withLock { $0 } }

    /// Installs messages for the whole process.
    public static func install(_ messages: ErrorMessages) { installed.withLock { $0 = messages } }

    /// Creates a collection with the built-in messages.
    public init(preferredLocalizations: [String] = Bundle.main.preferredLocalizations) {
        providers = [ErrorMessageTable(["en": english, "de": german])]
        self.preferredLocalizations = preferredLocalizations
    }

    /// Returns the messages with another provider that is asked first.
    public func adding(_ provider: any ErrorMessageProvider) -> ErrorMessages {
        var messages = self
        messages.providers.insert(provider, at: 0)
        return messages
    }

    /// Returns the message for an error, or its description if there is no message for its code.
    ///
    /// - Parameter locale: An identifier such as `de_AT`; `nil` for the current locale.
    public func message(for error: any Error, locale: String? = nil) -> String {
        let arguments = (error as? any CodedError)?.errorArguments ?? ["reason": "\(error)"]
        return text(ErrorCode(error).rawValue, locale: locale, arguments: arguments) ?? "\(error)"
    }

    /// Returns the advice for an error: the one of its code, or else the one for its kind of failure.
    ///
    /// - Parameter locale: An identifier such as `de_AT`; `nil` for the current locale.
    /// - Returns: `nil` if no provider has an advice.
    public func recoveryHint(for error: any Error, locale: String? = nil) -> String? {
        let arguments = (error as? any CodedError)?.errorArguments ?? [:]
        return text("\(ErrorCode(error).rawValue).recovery", locale: locale, arguments: arguments)
            ?? text("recovery.\(FailureKind(error).recovery.rawValue)", locale: locale, arguments: arguments)
    }

    /// Returns a message with its arguments inserted.
    ///
    /// - Parameters:
    ///   - locale: An identifier such as `de-AT` or `de_AT`; `nil` for the current locale.
    ///   - arguments: The values of the placeholders `{name}`. A placeholder without a value is removed.
    /// - Returns: `nil` if no provider has a message, not even in English.
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
            // Inserted values are not searched for placeholders, because they may contain braces.
            text += arguments[String(rest[rest.index(after: open)..<close])] ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}
