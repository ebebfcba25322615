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

    // A model has thousands of facets that state nothing: numbers stand in half a word each, below zero where unstated.
    private var length: Int32 = -1
    private var digits: Int32 = -1
    private var fraction: Int32 = -1
    private var system: Int32 = -1
    /// Whether a string may hold characters outside ASCII; `nil` when unstated.
    public var isUnicode: Bool?
    /// Whether the document says that the length has no limit (`MaxLength="max"`), as against saying nothing.
    public var isMaxLengthUnlimited: Bool
    /// Whether each value may name a spatial reference system of its own (`SRID="variable"`).
    public var isSRIDVariable: Bool
    /// Whether the document does not say if a collection may hold null: XML has no default there, and clients are to
    /// be prepared for it (OData CSDL XML 4.01, 7.2.1).
    public var isNullabilityUnstated: Bool

    private static let variableScale: Int32 = -2
    private static let floatingScale: Int32 = -3

    /// Makes facets; every one left out is unstated. Numbers above 2,147,483,647 are taken for that one.
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

    /// The greatest length in characters or bytes; `nil` when unlimited or unstated.
    public var maxLength: Int? {
        get { length < 0 ? nil : Int(length) }
        set { length = Self.stated(newValue) }
    }

    /// Significant digits of a decimal, or fractional digits of a time.
    public var precision: Int? {
        get { digits < 0 ? nil : Int(digits) }
        set { digits = Self.stated(newValue) }
    }

    /// Digits to the right of the decimal point; `nil` when unstated, which V4 reads as 0.
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

    /// The spatial reference system of a geo value; `nil` when unstated or variable.
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
