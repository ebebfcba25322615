import ErrorCodes

/// An error that describes an invalid value of a property.
public struct InvalidValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The value is null, but null is not allowed.
        case null
        /// The value has another type or is out of the type's range.
        case type(expected: TypeReference)
        /// A string or binary value is longer than `MaxLength` allows.
        case length(Int, limit: Int)
        /// A decimal has more digits than `Precision` and `Scale` allow.
        case digits(ODataDecimal, precision: Int?, scale: Int?)
        /// A decimal is INF, -INF or NaN, which require `Scale="floating"`.
        case notFinite
        /// Seconds have more fractional digits than `Precision` allows.
        case fraction(limit: Int)
        /// A string has characters outside ASCII, but `Unicode` is false.
        case notASCII
        /// The reference system of a geo value differs from `SRID`.
        case srid(Int, expected: Int)
        /// A number is neither a member of the enumeration nor a combination of its flags.
        case member(Int64, of: QualifiedName)
        /// A string does not match the regular expression in its property's annotations.
        case pattern(String)
    }

    /// The kind of error.
    public var reason: Reason
    /// The path of the property, with the indices of collection members, such as `Phones/0`.
    public var path: String

    /// Creates an error.
    public init(_ reason: Reason, path: String = "") {
        self.reason = reason
        self.path = path
    }

    /// Returns the error with the name of an enclosing property or index prepended to its path.
    func within(_ name: String) -> InvalidValueError {
        InvalidValueError(reason, path: path.isEmpty ? name : "\(name)/\(path)")
    }

    /// A message with the path and the violated constraint.
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
