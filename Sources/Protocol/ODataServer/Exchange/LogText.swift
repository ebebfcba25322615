/// Texts of strangers as they stand in a line of the access log: no text can end its line, its field or its colour.
///
/// Letters, digits and the marks of URLs stay; everything else, above all blanks, equals signs, control characters, and the
/// marks that turn the direction of text, is percent-encoded as in a URL.
enum LogText {
    /// The longest text, in characters; what is longer is cut.
    static let maxLength = 500

    /// A value of a field: an id, a name.
    static func value(_ text: some StringProtocol) -> String {
        escaped(text.prefix(maxLength), keeping: "-._~:/@+$,;!*'()")
    }

    /// A method or the target of a request, which is percent-encoded already and stands first in its line.
    static func target(_ text: some StringProtocol) -> String {
        escaped(text.prefix(maxLength * 4), keeping: "-._~:/@+$,;!*'()?&=%#|{}^`<>")
    }

    private static func escaped(_ text: some StringProtocol, keeping marks: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isPlain(scalar) || scalar.isASCII && marks.unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for byte in UTF8.encode(scalar).map(Array.init) ?? [] {
                    result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                }
            }
        }
        return result
    }

    /// Whether a character is a letter or a digit of any script.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}
