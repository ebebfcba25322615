extension StringProtocol {
    /// Whether the string is a simple identifier (OData CSDL 4.01, 15.2). Only such a name can stand in a URL.
    package var isSimpleIdentifier: Bool {
        var count = 0
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
                break
            case .connectorPunctuation: if count == 0, scalar != "_" { return false }
            case .decimalNumber, .nonspacingMark, .spacingMark, .format: if count == 0 { return false }
            default: return false
            }
            count += 1
        }
        return (1...128).contains(count)
    }
}
