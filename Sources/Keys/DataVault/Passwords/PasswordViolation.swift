/// A violation of a password policy. The raw values are the codes of the older products, 50 to 57.
public enum PasswordViolation: Int, CaseIterable, Codable, Sendable {
    /// No password was given, although the platform's key alone is not allowed (`PASSWORD_REQUIRED`).
    case required = 50
    /// Too few characters (`PASSWORD_UNDER_MIN_LENGTH`).
    case tooShort = 51
    /// No digit (`PASSWORD_REQUIRES_DIGIT`).
    case digitMissing = 52
    /// No upper-case letter (`PASSWORD_REQUIRES_UPPER`).
    case upperCaseMissing = 53
    /// No lower-case letter (`PASSWORD_REQUIRES_LOWER`).
    case lowerCaseMissing = 54
    /// None of the special characters (`PASSWORD_REQUIRES_SPECIAL`).
    case specialMissing = 55
    /// Too few different characters (`PASSWORD_UNDER_MIN_UNIQUE`).
    case tooFewUnique = 56
    /// The password was set too many days ago (`PASSWORD_EXPIRED`).
    case expired = 57
}

extension PasswordViolation: CustomStringConvertible {
    /// A description of the violation, as part of a sentence.
    public var description: String {
        switch self {
        case .required: "a password is required"
        case .tooShort: "it is too short"
        case .digitMissing: "it has no digit"
        case .upperCaseMissing: "it has no upper-case letter"
        case .lowerCaseMissing: "it has no lower-case letter"
        case .specialMissing: "it has none of \(PasswordPolicy.specialCharacters)"
        case .tooFewUnique: "it has too few different characters"
        case .expired: "it has expired"
        }
    }
}
