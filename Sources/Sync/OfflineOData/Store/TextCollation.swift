import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// The order and comparison of texts in queries of a store (``OfflineStore/CreationOptions/collation``).
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.creation.collation = .dictionary
/// ```
public enum TextCollation: String, Hashable, Sendable, CaseIterable {
    /// By code points, without normalisation: as UTF-8 sorts, and as OData services compare.
    case codePoints
    /// By the order of a dictionary, without a locale: first by letters, then by accents, then lower before upper
    /// case. `cote`, `côté` and `Zoe` come in this order. A letter with an accent is equal in each encoding.
    case dictionary
}

/// The comparison of texts in a store. It is stored, since indexes contain texts in this form.
struct TextComparison: Hashable, Sendable {
    var collation = TextCollation.codePoints
    var isCaseSensitive = true

    // MARK: Keeping

    private static let collationSetting = "texts.collation"
    private static let caseSetting = "texts.caseSensitive"

    /// The comparison of a new store.
    init(_ options: OfflineStore.CreationOptions) {
        collation = options.collation ?? .codePoints
        isCaseSensitive = options.isCaseSensitive ?? true
    }

    /// The comparison with which a store was created.
    ///
    /// - Throws: ``OfflineError/optionDiffers(name:stored:given:)`` if the options differ.
    init(of database: Database, checking options: OfflineStore.CreationOptions) throws {
        if let name = try Settings.text(Self.collationSetting, in: database) {
            // A newer version may know more collations. The version of the store would show that.
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

    /// The comparison of a store's indexes, if the settings are damaged; by code points without an index.
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

    /// The forms for the binder; `nil` if texts are compared unchanged.
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

    /// Adds the functions to a connection: every writer of a store maintains its indexes, of any comparison.
    static func register(in database: Database) {
        StoreFunctions.register(
            FunctionRegistry(scalar: [caseless, dictionary, caselessDictionary]), in: database)
    }
}

/// Texts in forms that compare by their code points.
enum TextKey {
    /// The text without the difference between upper and lower case, by the full mappings of Unicode and without
    /// a locale: `STRASSE` and `Straße` are the same, `ı` and `i` are not.
    static func caseless(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text.lowercased() }
        return text.unicodeScalars.map { caseless($0) }.joined()
    }

    private static func caseless(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x41...0x5A: String(Unicode.Scalar(UInt8(scalar.value + 32)))
        case 0...0x7F, 0x131: String(scalar)
        // Mapped to upper case and back, so that letters with the same capital become equal, such as the two
        // small sigmas.
        default:
            mapped(mapped(scalar.properties.lowercaseMapping, \.uppercaseMapping), \.lowercaseMapping)
        }
    }

    private static func mapped(_ text: String, _ mapping: (Unicode.Scalar.Properties) -> String) -> String {
        text.unicodeScalars.map { mapping($0.properties) }.joined()
    }

    /// The separator between the letters, the accents and the cases of a text: less than any letter.
    private static let level: Unicode.Scalar = "\u{1}"
    /// The separator behind the entry of one letter.
    private static let next: Unicode.Scalar = "\u{2}"
    private static let capital: Unicode.Scalar = "\u{3}"

    /// The letters without accents and case; then the accents of each letter; then the capitals.
    static func dictionary(_ text: String, hasCase: Bool) -> String {
        var (letters, accents, cases) = (
            String.UnicodeScalarView(), String.UnicodeScalarView(), String.UnicodeScalarView()
        )
        // Empty entries are kept only before an entry with content.
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
