extension ODataDecimal: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// A whole number, as in `order.freight = 12`.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// A number with a fraction, as in `order.freight = 12.5`: the shortest decimal that the literal can be.
    ///
    /// Traps for a literal of more than ``maxDigits`` digits, as Swift's own number types do.
    public init(floatLiteral value: Double) {
        guard let decimal = ODataDecimal(value.description) else {
            preconditionFailure("\(value) has more digits than a decimal takes")
        }
        self = decimal
    }
}
