/// The conversion of metadata names to Swift names. The landing page of the documentation describes the rules.
enum SwiftName {
    /// The maximum number of characters of a name. A longer one is truncated and ends in a hash of the whole
    /// name.
    static let maxLength = 100

    /// Returns the name of a type, in which each word is capitalized.
    static func type(_ name: String) -> String {
        let words = words(name)
        return finished(words.isEmpty ? "Unnamed" : words.map(capitalized).joined(), for: name)
    }

    /// Returns the name of a property, method, parameter or enumeration member, with a lower-case first word.
    static func member(_ name: String) -> String {
        let words = words(name)
        guard let first = words.first else { return "unnamed" }
        return finished(uncapitalized(first) + words.dropFirst().map(capitalized).joined(), for: name)
    }

    /// Returns whether a text is a Swift identifier, with or without backticks.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !isDigit(first), !cannotBeQuoted.contains(text), text != "_"
        else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "_" || isPart($0) }
    }

    /// Returns the name as it is written in code: keywords are quoted with backticks.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    // MARK: Words

    /// Splits a name into words. Words consist of letters and digits, and separators are removed. Any other
    /// character becomes a word with its code point, so that names of symbols stay distinct.
    private static func words(_ name: String) -> [String] {
        var words: [String] = []
        var current = String.UnicodeScalarView()
        func end() {
            if !current.isEmpty { words.append(String(current)) }
            current = String.UnicodeScalarView()
        }
        for scalar in name.unicodeScalars {
            if isPart(scalar) {
                current.append(scalar)
            } else {
                end()
                if !isSeparator(scalar) { words.append("u" + String(scalar.value, radix: 16, uppercase: true)) }
            }
        }
        end()
        // `SALES_ORDER` is split into two words if all its letters are capitals.
        let isShouted = words.count > 1 && !name.unicodeScalars.contains { $0.properties.isLowercase }
        return isShouted ? words.map { $0.count > 1 ? $0.lowercased() : $0 } : words
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return isDigit(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        }
        // Letters and digits of all scripts are kept. So are combining marks, because compilers compare
        // identifiers by their bytes.
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .nonspacingMark, .spacingMark:
            return isAllowed(scalar.value)
        default: return false
        }
    }

    /// Returns whether a code point is in the ranges of Swift's identifier grammar.
    private static func isAllowed(_ value: UInt32) -> Bool {
        switch value {
        case 0xA8, 0xAA, 0xAD, 0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF,
            0x300...0x167F, 0x1681...0x180D, 0x180F...0x1FFF, 0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040,
            0x2054, 0x2060...0x20FF, 0x2100...0x218F, 0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF,
            0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F, 0x3031...0x303F, 0x3040...0xD7FF, 0xF900...0xFD3D,
            0xFD40...0xFDCF, 0xFDF0...0xFE44, 0xFE47...0xFFFD:
            true
        default: value >= 0x10000 && value <= 0xEFFFD && value & 0xFFFF <= 0xFFFD
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .dashPunctuation,
            .connectorPunctuation, .nonspacingMark:
            return true
        default: return false
        }
    }

    private static func capitalized(_ word: String) -> String {
        guard let first = word.first else { return word }
        return first.uppercased() + word.dropFirst()
    }

    /// Lowercases the first word: `OrderID` to `orderID`, `URLPath` to `urlPath`, `ID` to `id`, `IDs` to `ids`.
    private static func uncapitalized(_ word: String) -> String {
        let run = word.prefix { $0.isUppercase }
        let rest = word.dropFirst(run.count)
        if run.count <= 1 || rest.isEmpty || rest == "s" { return run.lowercased() + rest }
        // The last of several capitals begins the next word if a lower-case letter follows.
        guard rest.first?.isLowercase == true else { return run.lowercased() + rest }
        return run.dropLast().lowercased() + run.suffix(1) + rest
    }

    // MARK: Endings

    private static func finished(_ text: String, for name: String) -> String {
        var result = text
        if let first = result.unicodeScalars.first, !first.properties.isXIDStart { result = "_" + result }
        if result.count > maxLength { result = "\(result.prefix(maxLength))_\(hash(name))" }
        return cannotBeQuoted.contains(result) ? result + "_" : result
    }

    /// Returns a hash that is the same on every machine (FNV-1a), with 8 hexadecimal digits.
    private static func hash(_ text: String) -> String {
        let value = text.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
