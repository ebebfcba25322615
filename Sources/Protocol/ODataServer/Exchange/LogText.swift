/// The escaping of foreign texts in the access log: no text can end its line, its field or its colour.
///
/// Letters, digits and the characters of URLs are kept. All other characters are percent-encoded as in a URL:
/// spaces, equals signs, control characters, and marks that change the direction of text.
enum LogText {
    /// The maximum number of characters; longer texts are truncated.
    static let maxLength = 500

    /// Returns the value of a field, such as an id or a name.
    static func value(_ text: some StringProtocol) -> String {
        escaped(text.prefix(maxLength), keeping: "-._~:/@+$,;!*'()")
    }

    /// Returns a method or a request target, which is already percent-encoded and begins the line.
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

    /// Returns whether a character is a letter or a digit of any script.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}
