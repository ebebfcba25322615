/// The constraints on a primitive value (OData CSDL 4.01, 7.2 *Type Facets*).
public struct Facets: Hashable, Sendable {
    /// How many digits a decimal may have to the right of the point.
    public enum Scale: Hashable, Sendable {
        /// At most this many digits.
        case fixed(Int)
        /// Any number of digits up to the precision.
        case variable
        /// A decimal floating-point number.
        case floating
    }

    /// The greatest length in characters or bytes; `nil` when unlimited or unstated.
    public var maxLength: Int?
    /// Whether the document says that the length has no limit (`MaxLength="max"`), as against saying nothing.
    public var isMaxLengthUnlimited: Bool
    /// Significant digits of a decimal, or fractional digits of a time.
    public var precision: Int?
    /// Digits to the right of the decimal point; `nil` when unstated, which V4 reads as 0.
    public var scale: Scale?
    /// Whether a string may hold characters outside ASCII; `nil` when unstated.
    public var isUnicode: Bool?
    /// The spatial reference system of a geo value; `nil` when unstated or variable.
    public var srid: Int?
    /// Whether each value may name a spatial reference system of its own (`SRID="variable"`).
    public var isSRIDVariable: Bool
    /// Whether the document does not say if a collection may hold null: XML has no default there, and clients are to
    /// be prepared for it (OData CSDL XML 4.01, 7.2.1).
    public var isNullabilityUnstated: Bool

    /// Makes facets; every one left out is unstated.
    public init(
        maxLength: Int? = nil, precision: Int? = nil, scale: Scale? = nil, isUnicode: Bool? = nil, srid: Int? = nil,
        isMaxLengthUnlimited: Bool = false, isSRIDVariable: Bool = false, isNullabilityUnstated: Bool = false
    ) {
        self.maxLength = maxLength
        self.precision = precision
        self.scale = scale
        self.isUnicode = isUnicode
        self.srid = srid
        self.isMaxLengthUnlimited = isMaxLengthUnlimited
        self.isSRIDVariable = isSRIDVariable
        self.isNullabilityUnstated = isNullabilityUnstated
    }
}
