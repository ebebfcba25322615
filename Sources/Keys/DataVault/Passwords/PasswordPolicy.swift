import Foundation

/// What a vault demands of its password, as an administrator decides it.
///
/// The defaults demand nothing, but for a password: ``defaultPasswordAllowed`` is false.
public struct PasswordPolicy: Equatable, Codable, Sendable {
    /// Whether the vault may be opened by the platform's key alone. Then length and kinds of characters are
    /// not looked at; ``minUniqueChars`` and ``expirationDays`` are.
    public var defaultPasswordAllowed = false
    /// The fewest characters, counted as a person sees them.
    public var minLength = 0
    /// Whether there must be a digit, of any script.
    public var hasDigits = false
    /// Whether there must be an upper-case letter.
    public var hasUpper = false
    /// Whether there must be a lower-case letter.
    public var hasLower = false
    /// Whether there must be one of ``specialCharacters``.
    public var hasSpecial = false
    /// How many days a password is good for, from the day it was set; judged when the vault is unlocked. 0
    /// for ever.
    public var expirationDays = 0
    /// The fewest different characters: with 4, `aaate` and `ababa` fail and `aaord` passes. The platform's key
    /// counts as having ``platformKeyUniqueCharacters``.
    public var minUniqueChars = 0
    /// After how many seconds from its unlocking a vault locks itself; 0 never.
    public var lockTimeout = 0
    /// At which consecutive wrong password the vault is destroyed: with 3, at the third. 0 never.
    public var retryLimit = 0

    /// The special characters, these 13 and no others.
    public static let specialCharacters = "~!@#$%^&*()-+"
    /// How many different characters the platform's key counts as: it is a number of 64 hexadecimal digits.
    public static let platformKeyUniqueCharacters = 16
    private static let secondsPerDay = 86_400.0

    /// A policy with the defaults.
    public init() {}

    /// Everything that is wrong with a password, in the order of the codes.
    ///
    /// - Parameters:
    ///   - credentials: The password, or none. Its salt is not looked at.
    ///   - age: How many seconds ago it was set; nil for a new one, which cannot be too old.
    /// - Returns: Nothing when the password is good.
    public func violations(of credentials: VaultCredentials, age: Double? = nil) -> [PasswordViolation] {
        var violations: [PasswordViolation] = []
        func demand(_ isFulfilled: Bool, _ violation: PasswordViolation) {
            if !isFulfilled { violations.append(violation) }
        }
        if let password = credentials.password?.reveal().precomposedStringWithCanonicalMapping {
            demand(password.count >= minLength, .tooShort)
            demand(!hasDigits || password.contains { $0.isWholeNumber }, .digitMissing)
            demand(!hasUpper || password.contains { $0.isUppercase }, .upperCaseMissing)
            demand(!hasLower || password.contains { $0.isLowercase }, .lowerCaseMissing)
            demand(!hasSpecial || password.contains { Self.specialCharacters.contains($0) }, .specialMissing)
            demand(Set(password).count >= minUniqueChars, .tooFewUnique)
        } else if defaultPasswordAllowed {
            demand(Self.platformKeyUniqueCharacters >= minUniqueChars, .tooFewUnique)
        } else {
            return [.required]
        }
        if expirationDays > 0, let age {
            demand(age <= Double(expirationDays) * Self.secondsPerDay, .expired)
        }
        return violations
    }

    /// The numbers by their names.
    private var numbers: [(field: String, value: Int)] {
        [
            ("minLength", minLength), ("expirationDays", expirationDays), ("minUniqueChars", minUniqueChars),
            ("lockTimeout", lockTimeout), ("retryLimit", retryLimit),
        ]
    }

    /// Refuses negative numbers.
    func check() throws(DataVaultError) {
        for number in numbers where number.value < 0 {
            throw .negativeNumber(field: number.field, value: number.value)
        }
    }
}
