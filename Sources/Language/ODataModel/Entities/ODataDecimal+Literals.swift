extension ODataDecimal: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// A whole number, as in `order.freight = 12`.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// A number with a fraction, as in `order.freight = 12.5`: the shortest decimal that stands for the same `Double`.
    ///
    /// Swift makes a `Double` of a literal first, which has at most 17 significant digits: what needs more of them is
    /// made from text, `ODataDecimal("0.12345678901234567890")`. A literal beyond the greatest `Double` gives that one,
    /// with its sign, and `Double.nan` gives 0: every value is taken, and none traps.
    public init(floatLiteral value: Double) {
        let finite =
            value.isInfinite ? Double(sign: value.sign, exponent: 0, significand: .greatestFiniteMagnitude) : value
        self = ODataDecimal(finite.description) ?? ODataDecimal(0)
    }
}
