/// The writer of the text exposition format, version 0.0.4.
///
/// Each line ends with a line feed. A metric has one line HELP and one line TYPE before its samples, and its lines are
/// together.
enum PrometheusText {
    static func text(of families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            let name = family.name.text
            text += "# HELP \(name) \(escaped(family.help, quote: false))\n"
            text += "# TYPE \(name) \(family.name.kind.rawValue)\n"
            for series in family.series { write(series.point, of: name, series.labels, to: &text) }
        }
        return text
    }

    private static func write(
        _ point: MetricPoint, of name: String, _ labels: [MetricLabel], to text: inout String
    ) {
        switch point {
        case .count(let whole, let fractions):
            let value = fractions == 0 ? String(whole) : number(point.double)
            text += "\(name)\(list(labels)) \(value)\n"
        case .value(let value):
            text += "\(name)\(list(labels)) \(number(value))\n"
        case .distribution(let distribution):
            var count: UInt64 = 0
            for (index, part) in distribution.counts.enumerated() {
                count &+= part
                let bound = index < distribution.bounds.count ? number(distribution.bounds[index]) : "+Inf"
                text += "\(name)_bucket\(list(labels, bound: bound)) \(count)\n"
            }
            text += "\(name)_sum\(list(labels)) \(number(distribution.sum))\n"
            text += "\(name)_count\(list(labels)) \(count)\n"
        }
    }

    private static func list(_ labels: [MetricLabel], bound: String? = nil) -> String {
        var pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quote: true))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    /// Escapes backslashes and line feeds, and in the value of a label also quotation marks.
    private static func escaped(_ text: String, quote: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quote: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns a number as Go's `ParseFloat` reads it; a whole number has no fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}
