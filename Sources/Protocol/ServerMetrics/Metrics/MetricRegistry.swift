import Synchronization

/// A metric with its time series at one time.
struct MetricFamily: Sendable {
    struct Series: Sendable {
        var labels: [MetricLabel]
        /// The time at which the series was made.
        var start: ContinuousClock.Instant
        var point: MetricPoint
    }

    var name: MetricName
    var help: String
    var series: [Series]
}

/// All time series of a factory, by name and labels.
final class MetricRegistry: Sendable {
    private struct Entry {
        let series: any MetricSeries
        let start: ContinuousClock.Instant
    }

    private struct Family {
        let name: MetricName
        var help: String
        var entries: [[MetricLabel]: Entry] = [:]
    }

    /// The place of a time series.
    private struct Place {
        let name: String
        let labels: [MetricLabel]
    }

    private struct State {
        var families: [String: Family] = [:]
        /// The names of all lines, each with the name of its metric.
        var lines: [String: String] = [PrometheusMetrics.droppedName: PrometheusMetrics.droppedName]
        var places: [ObjectIdentifier: Place] = [:]
        var dropped: [PrometheusMetrics.DropReason: UInt64] = [:]
    }

    private let limit: Int
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Parameter limit: The maximum number of time series.
    init(limit: Int) { self.limit = limit }

    /// Returns the time series of an identity, which is made once.
    ///
    /// - Returns: A series that nobody reads if the limit is reached, or if the name has another kind.
    func series<Series: MetricSeries>(_ identity: SeriesIdentity, make: () -> Series) -> Series {
        state.withLock { state in
            let name = identity.name
            if let family = state.families[name.text], family.name.kind == name.kind {
                if let known = family.entries[identity.labels]?.series {
                    if let series = known as? Series { return series }
                    return Self.drop(.nameConflict, from: &state, make: make)
                }
            } else if name.lines.contains(where: { state.lines[$0] != nil }) {
                return Self.drop(.nameConflict, from: &state, make: make)
            }
            guard state.places.count < limit else { return Self.drop(.seriesLimit, from: &state, make: make) }
            let series = make()
            state.places[ObjectIdentifier(series)] = Place(name: name.text, labels: identity.labels)
            for line in name.lines { state.lines[line] = name.text }
            state.families[name.text, default: Family(name: name, help: identity.help ?? name.label)]
                .entries[identity.labels] = Entry(series: series, start: .now)
            return series
        }
    }

    private static func drop<Series>(
        _ reason: PrometheusMetrics.DropReason, from state: inout State, make: () -> Series
    ) -> Series {
        state.dropped[reason, default: 0] += 1
        return make()
    }

    /// Removes a time series; one of another factory, or one that is removed already, is ignored.
    func remove(_ series: AnyObject) {
        state.withLock { state in
            guard let place = state.places.removeValue(forKey: ObjectIdentifier(series)),
                var family = state.families[place.name]
            else { return }
            family.entries[place.labels] = nil
            state.families[place.name] = family.entries.isEmpty ? nil : family
            if family.entries.isEmpty { for line in family.name.lines { state.lines[line] = nil } }
        }
    }

    func dropped(_ reason: PrometheusMetrics.DropReason) -> UInt64 {
        state.withLock { $0.dropped[reason] ?? 0 }
    }

    /// All metrics, sorted by name and label, with the counter of dropped time series.
    var families: [MetricFamily] {
        let (families, dropped) = state.withLock { (Array($0.families.values), $0.dropped) }
        let all = families.map { family in
            MetricFamily(
                name: family.name, help: family.help,
                series: family.entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                    .map { .init(labels: $0.key, start: $0.value.start, point: $0.value.series.point) })
        }
        let own = MetricFamily(
            name: MetricName(label: PrometheusMetrics.droppedName, kind: .counter, unit: nil),
            help: "Time series that were asked for and are not kept.",
            series: PrometheusMetrics.DropReason.allCases.sorted { $0.rawValue < $1.rawValue }.map { reason in
                let labels = MetricLabel.labels([("reason", reason.rawValue)], of: .counter)
                return .init(labels: labels, start: start, point: .count(dropped[reason] ?? 0, fractions: 0))
            })
        return (all + [own]).sorted { $0.name.text < $1.name.text }
    }
}
