/// The constraints on a primitive value (OData CSDL 4.01, 7.2 *Type Facets*).
public struct Facets: Hashable, Sendable {
    /// The number of digits that a decimal may have to the right of the decimal point.
    public enum Scale: Hashable, Sendable {
        /// At most this many digits.
        case fixed(Int)
        /// Any number of digits up to the precision.
        case variable
        /// A decimal floating-point number.
        case floating
    }

    // Numbers are stored as `Int32`, with negative values for unstated facets, because a model has thousands of
    // empty facets.
    private var length: Int32 = -1
    private var digits: Int32 = -1
    private var fraction: Int32 = -1
    private var system: Int32 = -1
    /// Whether a string may contain characters outside ASCII; `nil` if unstated.
    public var isUnicode: Bool?
    /// Whether the document states an unlimited length (`MaxLength="max"`) instead of leaving it unstated.
    public var isMaxLengthUnlimited: Bool
    /// Whether each value may have its own spatial reference system (`SRID="variable"`).
    public var isSRIDVariable: Bool
    /// Whether the document leaves open if a collection may contain null. XML has no default in this case, and
    /// clients must be prepared for null (OData CSDL XML 4.01, 7.2.1).
    public var isNullabilityUnstated: Bool

    private static let variableScale: Int32 = -2
    private static let floatingScale: Int32 = -3

    /// Creates facets; all omitted facets are unstated. Numbers above 2,147,483,647 are clamped.
    public init(
        maxLength: Int? = nil, precision: Int? = nil, scale: Scale? = nil, isUnicode: Bool? = nil, srid: Int? = nil,
        isMaxLengthUnlimited: Bool = false, isSRIDVariable: Bool = false, isNullabilityUnstated: Bool = false
    ) {
        self.isMaxLengthUnlimited = isMaxLengthUnlimited
        self.isSRIDVariable = isSRIDVariable
        self.isNullabilityUnstated = isNullabilityUnstated
        self.isUnicode = isUnicode
        length = Self.stated(maxLength)
        digits = Self.stated(precision)
        fraction = Self.stated(scale)
        system = Self.stated(srid)
    }

    /// The maximum length in characters or bytes; `nil` if unlimited or unstated.
    public var maxLength: Int? {
        get { length < 0 ? nil : Int(length) }
        set { length = Self.stated(newValue) }
    }

    /// The maximum number of significant digits of a decimal, or of fractional digits of a time.
    public var precision: Int? {
        get { digits < 0 ? nil : Int(digits) }
        set { digits = Self.stated(newValue) }
    }

    /// The number of digits to the right of the decimal point; `nil` if unstated, which V4 reads as 0.
    public var scale: Scale? {
        get {
            switch fraction {
            case Self.variableScale: .variable
            case Self.floatingScale: .floating
            case 0...: .fixed(Int(fraction))
            default: nil
            }
        }
        set { fraction = Self.stated(newValue) }
    }

    /// The spatial reference system of a geo value; `nil` if unstated or variable.
    public var srid: Int? {
        get { system < 0 ? nil : Int(system) }
        set { system = Self.stated(newValue) }
    }

    private static func stated(_ number: Int?) -> Int32 { number.map { Int32(clamping: max($0, 0)) } ?? -1 }

    private static func stated(_ scale: Scale?) -> Int32 {
        switch scale {
        case nil: -1
        case .variable: variableScale
        case .floating: floatingScale
        case .fixed(let digits): stated(digits)
        }
    }
}
