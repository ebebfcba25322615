/// Makes foreign text harmless for its medium: names, codes, messages and values of services, databases and
/// archives.
package enum HarmlessText {
    /// A scalar with an invisible effect on a terminal or on the text around it.
    private enum Harm {
        /// A control character, a tab or an end of a line (Unicode categories Cc, Zl and Zp).
        case control
        /// A scalar that changes the direction of text or has no width (categories Cf and default
        /// ignorables).
        case hidden
    }

    /// Returns the text on one line: a space for each control character, and U+FFFD for hidden scalars.
    package static func line(_ text: String) -> String { cleaned(text, keeping: []) }

    /// Returns the text with its line breaks, otherwise like ``line(_:)``.
    package static func lines(_ text: String) -> String { cleaned(text, keeping: ["\n"]) }

    /// Returns the text with its line breaks and tabs, otherwise like ``line(_:)``.
    package static func document(_ text: String) -> String { cleaned(text, keeping: ["\n", "\t"]) }

    /// Returns the same JSON with each harmful character as an escape sequence (RFC 8259, 7).
    ///
    /// - Parameter json: JSON text, with harmful characters only within strings.
    package static func json(_ json: String) -> String {
        replaced(json) { scalar, _ in
            guard scalar != "\n", scalar != "\t", scalar != "\r" else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private static func cleaned(_ text: String, keeping kept: Set<Unicode.Scalar>) -> String {
        replaced(text) { scalar, harm in kept.contains(scalar) ? String(scalar) : harm == .control ? " " : "\u{FFFD}" }
    }

    private static func replaced(_ text: String, _ replacement: (Unicode.Scalar, Harm) -> String) -> String {
        // Nearly all texts are plain.
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard let harm = harm(of: scalar), !isJoiner(at: index, in: scalars) else {
                result.append(scalar)
                continue
            }
            result.append(contentsOf: replacement(scalar, harm).unicodeScalars)
        }
        return String(result)
    }

    private static func harm(of scalar: Unicode.Scalar) -> Harm? {
        if (0x20..<0x7F).contains(scalar.value) { return nil }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return .control
        case .format: return .hidden
        default: return properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector ? .hidden : nil
        }
    }

    /// Returns whether a scalar joins its neighbours as their script requires: emoji to one, letters of
    /// Persian or Hindi to their forms (Unicode Standard Annex 31, 2.3).
    private static func isJoiner(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let scalar = scalars[index]
        guard scalar == "\u{200D}" || scalar == "\u{200C}", index > 0, index + 1 < scalars.count else { return false }
        let (before, after) = (scalars[index - 1], scalars[index + 1])
        if isOfJoiningScript(before), isOfJoiningScript(after) { return true }
        return scalar == "\u{200D}" && isOfEmoji(before) && isOfEmoji(after)
    }

    /// Letters and signs from Arabic to Mongolian, and the presentation forms of Arabic.
    private static func isOfJoiningScript(_ scalar: Unicode.Scalar) -> Bool {
        (0x0620...0x109F).contains(scalar.value) || (0x1780...0x18AA).contains(scalar.value)
            || (0xFB50...0xFDFF).contains(scalar.value)
    }

    private static func isOfEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0xFF && (scalar.properties.isEmoji || scalar == "\u{FE0F}")
    }
}

/// Makes a text harmless that arrives in pieces, which may end within a character.
package struct HarmlessPieces {
    private let clean: (String) -> String
    private var rest: [UInt8] = []

    /// Creates the state for one text.
    ///
    /// - Parameter clean: one of the functions of ``HarmlessText``.
    package init(_ clean: @escaping (String) -> String) { self.clean = clean }

    /// Returns the harmless form of the next piece.
    package mutating func add(_ bytes: [UInt8]) -> [UInt8] {
        if rest.isEmpty, bytes.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "\n") }) { return bytes }
        var all = rest + bytes
        // An incomplete character at the end is kept for the next piece.
        var cut = all.count
        while cut > 0, all.count - cut < 3, all[cut - 1] & 0xC0 == 0x80 { cut -= 1 }
        let isCut = cut > 0 && all[cut - 1] >= 0xC0 && Self.length(all[cut - 1]) > all.count - cut + 1
        rest = isCut ? Array(all[(cut - 1)...]) : []
        all.removeLast(rest.count)
        return Array(clean(String(decoding: all, as: UTF8.self)).utf8)
    }

    private static func length(_ first: UInt8) -> Int { first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2 }

    /// Returns the rest at the end.
    package mutating func end() -> [UInt8] {
        defer { rest = [] }
        return rest.isEmpty ? [] : Array(clean(String(decoding: rest, as: UTF8.self)).utf8)
    }
}
