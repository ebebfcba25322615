import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// How queries of a store order and compare texts (``OfflineStore/CreationOptions/collation``).
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.creation.collation = .dictionary
/// ```
public enum TextCollation: String, Hashable, Sendable, CaseIterable {
    /// By their code points, without normalising: as UTF-8 sorts, and as OData services compare.
    case codePoints
    /// As a dictionary has them, without a locale: letters first, then their accents, then small before capital letters.
    /// `cote`, `côté` and `Zoe` come in this order, and a letter with its accent is equal however it is encoded.
    case dictionary
}

/// How a store compares texts. It is kept with the store, since its indexes hold texts in that form.
struct TextComparison: Hashable, Sendable {
    var collation = TextCollation.codePoints
    var isCaseSensitive = true

    // MARK: Keeping

    private static let collationSetting = "texts.collation"
    private static let caseSetting = "texts.caseSensitive"

    /// As a new store has it.
    init(_ options: OfflineStore.CreationOptions) {
        collation = options.collation ?? .codePoints
        isCaseSensitive = options.isCaseSensitive ?? true
    }

    /// As a store was made with it.
    ///
    /// - Throws: ``OfflineError/optionDiffers(name:stored:given:)`` where the options say otherwise.
    init(of database: Database, checking options: OfflineStore.CreationOptions) throws {
        if let name = try Settings.text(Self.collationSetting, in: database) {
            // Of a version that knows more of them, which the version of the store would tell.
            collation = TextCollation(rawValue: name) ?? .codePoints
        }
        isCaseSensitive = try Settings.text(Self.caseSetting, in: database) != "no"
        if let given = options.collation, given != collation {
            throw OfflineError.optionDiffers(
                name: "creation.collation", stored: collation.rawValue, given: given.rawValue)
        }
        if let given = options.isCaseSensitive, given != isCaseSensitive {
            throw OfflineError.optionDiffers(
                name: "creation.isCaseSensitive", stored: "\(isCaseSensitive)", given: "\(given)")
        }
    }

    /// As the indexes of a store have it, where the store cannot tell any more; by code points where there are none.
    init(ofIndexesIn database: Database) throws {
        if let name = try Settings.text(Self.collationSetting, in: database) {
            collation = TextCollation(rawValue: name) ?? .codePoints
            isCaseSensitive = try Settings.text(Self.caseSetting, in: database) != "no"
            return
        }
        let indexes = try String.fetchAll(
            database, sql: "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        for candidate in TextCollation.allCases.flatMap({ [Self($0, true), Self($0, false)] }) {
            guard let name = candidate.forms?.compared.name, indexes.contains(where: { $0.contains("app:\(name)\"") })
            else { continue }
            self = candidate
        }
    }

    private init(_ collation: TextCollation, _ isCaseSensitive: Bool) {
        self.collation = collation
        self.isCaseSensitive = isCaseSensitive
    }

    func keep(in database: Database) throws {
        guard self != TextComparison(.init()) else { return }
        try Settings.set(Self.collationSetting, collation.rawValue, in: database)
        try Settings.set(Self.caseSetting, isCaseSensitive ? "yes" : "no", in: database)
    }

    // MARK: Forms

    /// The forms for the binder; `nil` where texts count as they are.
    var forms: TextForms? {
        switch (collation, isCaseSensitive) {
        case (.codePoints, true): nil
        case (.codePoints, false): TextForms(compared: Self.caseless, searched: Self.caseless)
        case (.dictionary, true): TextForms(compared: Self.dictionary)
        case (.dictionary, false): TextForms(compared: Self.caselessDictionary, searched: Self.caseless)
        }
    }

    private static let caseless = function("outpost.caseless", TextKey.caseless)
    private static let dictionary = function("outpost.dictionary") { TextKey.dictionary($0, hasCase: true) }
    private static let caselessDictionary = function("outpost.caselessDictionary") {
        TextKey.dictionary($0, hasCase: false)
    }

    private static func function(_ name: String, _ form: @escaping @Sendable (String) -> String) -> ScalarFunction {
        ScalarFunction(name, [.primitive(.string)], returns: .primitive(.string)) { arguments in
            guard case .string(let text) = arguments[0] else { return .null }
            return .string(form(text))
        }
    }

    /// Adds the functions to a connection: whoever writes a store keeps its indexes, whatever they are made for.
    static func register(in database: Database) {
        StoreFunctions.register(
            FunctionRegistry(scalar: [caseless, dictionary, caselessDictionary]), in: database)
    }
}

/// Texts in forms that compare by their code points.
enum TextKey {
    /// The text without the difference between small and capital letters, by the full mappings of Unicode and without a
    /// locale: `STRASSE` and `Straße` are the same, `ı` and `i` are not.
    static func caseless(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text.lowercased() }
        return text.unicodeScalars.map { caseless($0) }.joined()
    }

    private static func caseless(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x41...0x5A: String(Unicode.Scalar(UInt8(scalar.value + 32)))
        case 0...0x7F, 0x131: String(scalar)
        // There and back, so that letters meet which only share their capital, as the two small sigmas do.
        default:
            mapped(mapped(scalar.properties.lowercaseMapping, \.uppercaseMapping), \.lowercaseMapping)
        }
    }

    private static func mapped(_ text: String, _ mapping: (Unicode.Scalar.Properties) -> String) -> String {
        text.unicodeScalars.map { mapping($0.properties) }.joined()
    }

    /// Stands between the letters, the accents and the cases of a text: less than any letter.
    private static let level: Unicode.Scalar = "\u{1}"
    /// Stands after what is said of one letter.
    private static let next: Unicode.Scalar = "\u{2}"
    private static let capital: Unicode.Scalar = "\u{3}"

    /// The letters without accents and case; then the accents of each; then which are capitals.
    static func dictionary(_ text: String, hasCase: Bool) -> String {
        var (letters, accents, cases) = (
            String.UnicodeScalarView(), String.UnicodeScalarView(), String.UnicodeScalarView()
        )
        // Only what comes before something said is kept of those that say nothing.
        var (openAccents, openCases) = (0, 0)
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            guard scalar.properties.canonicalCombiningClass == .notReordered else {
                for _ in 0..<openAccents { accents.append(next) }
                openAccents = 0
                accents.append(scalar)
                continue
            }
            let letter = caseless(scalar)
            letters.append(contentsOf: letter.unicodeScalars)
            openAccents += 1
            if hasCase {
                if letter.unicodeScalars.first != scalar, scalar.properties.isUppercase {
                    for _ in 0..<openCases { cases.append(next) }
                    openCases = 0
                    cases.append(capital)
                }
                openCases += 1
            }
        }
        if !accents.isEmpty || !cases.isEmpty { letters.append(level) }
        letters.append(contentsOf: accents)
        if !cases.isEmpty {
            letters.append(level)
            letters.append(contentsOf: cases)
        }
        return String(letters)
    }
}
