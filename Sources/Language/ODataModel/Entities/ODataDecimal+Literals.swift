extension ODataDecimal: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates an integer, as in `order.freight = 12`.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// Creates a number with a fraction, as in `order.freight = 12.5`: the shortest decimal that identifies the
    /// `Double`.
    ///
    /// Swift first converts a literal to a `Double` with at most 17 significant digits. For more digits, use text:
    /// `ODataDecimal("0.12345678901234567890")`. A literal beyond the greatest `Double` gives the greatest `Double`
    /// with the same sign, and `Double.nan` gives 0. No value traps.
    public init(floatLiteral value: Double) {
        let finite =
            value.isInfinite ? Double(sign: value.sign, exponent: 0, significand: .greatestFiniteMagnitude) : value
        self = ODataDecimal(finite.description) ?? ODataDecimal(0)
    }
}
