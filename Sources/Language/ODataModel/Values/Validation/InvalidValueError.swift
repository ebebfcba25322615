import ErrorCodes

/// Why a value may not stand where it does.
public struct InvalidValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// The value is null where null is forbidden.
        case null
        /// The value is of another type, or out of the type's range.
        case type(expected: TypeReference)
        /// A string has more characters, or bytes are more, than `MaxLength` allows.
        case length(Int, limit: Int)
        /// A decimal has more digits than `Precision` and `Scale` allow.
        case digits(ODataDecimal, precision: Int?, scale: Int?)
        /// A decimal is INF, -INF or NaN, which takes `Scale="floating"`.
        case notFinite
        /// Seconds have more fractional digits than `Precision` allows.
        case fraction(limit: Int)
        /// A string has characters outside ASCII where `Unicode` is false.
        case notASCII
        /// A geo value is in another reference system than `SRID` states.
        case srid(Int, expected: Int)
        /// A number is no member of the enumeration, nor a combination of its flags.
        case member(Int64, of: QualifiedName)
        /// A string does not match the regular expression that its property is annotated with.
        case pattern(String)
    }

    /// What is wrong.
    public var reason: Reason
    /// The path of the property, with the numbers of collection members, such as `Phones/0`.
    public var path: String

    /// Makes an error.
    public init(_ reason: Reason, path: String = "") {
        self.reason = reason
        self.path = path
    }

    /// The same error seen from one level further out.
    func within(_ name: String) -> InvalidValueError {
        InvalidValueError(reason, path: path.isEmpty ? name : "\(name)/\(path)")
    }

    /// What is wrong, where, and what was expected.
    public var description: String {
        switch reason {
        case .null: "\(path) must have a value."
        case .type(let type): "\(path) must be of type \(type)."
        case .length(let length, let limit): "\(path) is \(length) long where at most \(limit) are allowed."
        case .digits(let number, let precision, let scale):
            "\(path) is \(number), which is more than"
                + (precision.map { " \($0) digits" } ?? " any number of digits")
                + (scale.map { ", \($0) of them after the point." } ?? ".")
        case .notFinite: "\(path) is INF, -INF or NaN, which takes a decimal of floating scale."
        case .fraction(let limit): "\(path) has more than \(limit) fractional digits of a second."
        case .notASCII: "\(path) has characters outside ASCII."
        case .srid(let srid, let expected): "\(path) is in reference system \(srid) where \(expected) is declared."
        case .member(let number, let type): "\(path) is \(number), which is no member of \(type)."
        case .pattern(let pattern):
            "\(path) does not match \(pattern), the pattern that its values must have (Validation.Pattern)."
        }
    }
}

extension InvalidValueError: CodedError {
    /// `value.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.invalid") }
    /// The value does not fit its property.
    public var failureKind: FailureKind { .request }
}
