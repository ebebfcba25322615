/// The value of one combination of labels.
protocol MetricSeries: AnyObject, Sendable {
    /// The current value.
    var point: MetricPoint { get }
}

/// The value of a time series at one time.
enum MetricPoint: Hashable, Sendable {
    /// A count that only grows: its whole part, which is exact, and the sum of its fractional parts.
    case count(UInt64, fractions: Double)
    case value(Double)
    case distribution(Distribution)

    /// The value as one number; the sum of a distribution.
    var double: Double {
        switch self {
        case .count(let whole, let fractions): Double(whole) + fractions
        case .value(let value): value
        case .distribution(let distribution): distribution.sum
        }
    }
}

/// The values of a histogram by bucket.
struct Distribution: Hashable, Sendable {
    /// The upper bounds of the buckets, which belong to them; a last bucket has no bound.
    let bounds: [Double]
    /// The number of values in each bucket, one more than there are bounds.
    var counts: [UInt64]
    var sum = 0.0

    /// - Parameter bounds: The upper bounds in any order. Bounds that are not finite are ignored.
    init(bounds: [Double]) {
        self.bounds = Set(bounds.filter(\.isFinite)).sorted()
        counts = [UInt64](repeating: 0, count: self.bounds.count + 1)
    }

    /// The number of values in all buckets.
    var count: UInt64 { counts.reduce(0, &+) }

    mutating func add(_ value: Double) {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        counts[low] &+= 1
        sum += value
    }
}
