/// The kind of a metric in Prometheus.
enum MetricKind: String, Hashable, Sendable {
    case counter
    case gauge
    case histogram
}

/// The name and the labels of a time series, as Prometheus writes them.
struct SeriesIdentity: Sendable {
    let name: MetricName
    let labels: [MetricLabel]
    let help: String?

    init(
        label: String, kind: MetricKind, unit: MetricDescription.Unit?, help: String?,
        dimensions: [(String, String)]
    ) {
        name = MetricName(label: label, kind: kind, unit: unit)
        labels = MetricLabel.labels(dimensions, of: kind)
        self.help = help
    }
}

/// The name of a metric and its parts.
struct MetricName: Hashable, Sendable {
    /// The label in swift-metrics, such as `http.server.request.duration`.
    let label: String
    let kind: MetricKind
    let unit: MetricDescription.Unit?
    /// The name in Prometheus, such as `http_server_request_duration_seconds`.
    let text: String

    /// The maximum length of a name or label name, in characters; the rest is cut off.
    static let maxLength = 200

    init(label: String, kind: MetricKind, unit: MetricDescription.Unit?) {
        (self.label, self.kind, self.unit) = (label, kind, unit)
        var text = Self.valid(label, allowsColon: true)
        let isTotal = text.hasSuffix("_total")
        if isTotal, kind == .counter { text.removeLast("_total".count) }
        if let unit, !text.hasSuffix(unit.suffix) { text += unit.suffix }
        if kind == .counter { text += "_total" }
        self.text = text
    }

    /// The names of the metric's lines. No two metrics have one of them in common.
    var lines: [String] {
        kind == .histogram ? [text, text + "_bucket", text + "_sum", text + "_count"] : [text]
    }

    /// Returns a text of the letters, digits and underscores of a name. It does not begin with a digit.
    static func valid(_ text: String, allowsColon: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(maxLength) {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
            case ":" where allowsColon: result.unicodeScalars.append(scalar)
            case "0"..."9":
                if result.isEmpty { result = "_" }
                result.unicodeScalars.append(scalar)
            default: result += "_"
            }
        }
        return result.isEmpty ? "_" : result
    }
}

/// A label of a time series.
struct MetricLabel: Hashable, Comparable, Sendable {
    /// The name in swift-metrics, such as `http.request.method`.
    let key: String
    /// The name in Prometheus.
    let name: String
    let value: String

    /// The maximum length of a value, in characters; the rest is cut off.
    static let maxValueLength = 256

    /// Labels are the same in Prometheus, whatever their keys are.
    static func == (left: MetricLabel, right: MetricLabel) -> Bool {
        (left.name, left.value) == (right.name, right.value)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }

    static func < (left: MetricLabel, right: MetricLabel) -> Bool {
        (left.name, left.value) < (right.name, right.value)
    }

    /// Returns the labels for dimensions, sorted by name.
    ///
    /// Prometheus takes an empty value for no label. Values of one name are joined by a semicolon.
    static func labels(_ dimensions: [(String, String)], of kind: MetricKind) -> [MetricLabel] {
        var labels: [String: MetricLabel] = [:]
        for (key, value) in dimensions where !value.isEmpty {
            let name = name(for: key, of: kind)
            let all = (labels[name].map { $0.value + ";" } ?? "") + value
            labels[name] = MetricLabel(
                key: labels[name]?.key ?? key, name: name, value: String(all.unicodeScalars.prefix(maxValueLength)))
        }
        return labels.values.sorted()
    }

    /// Returns the name for a dimension. Names with two underscores at the beginning belong to Prometheus, and `le`
    /// belongs to the buckets of a histogram.
    private static func name(for key: String, of kind: MetricKind) -> String {
        let name = MetricName.valid(key)
        if name.hasPrefix("__") { return "key" + name }
        return kind == .histogram && name == "le" ? "exported_le" : name
    }
}
