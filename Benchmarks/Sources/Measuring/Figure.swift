import Foundation

/// One line of the report: a figure beside its limit, which ends in `holds` or in how far it was missed.
public struct Figure {
    private let title: String
    private let value: Double
    private let unit: String

    /// A ratio of two measurements.
    public init(_ title: String, _ ratio: Double) {
        self.init(title, ratio, unit: "times")
    }

    /// A measurement that has a limit of its own.
    public init(_ title: String, _ value: Double, unit: String) {
        self.title = title
        self.value = value
        self.unit = unit
    }

    /// Prints the figure with its upper limit.
    ///
    /// - Parameter what: the basis of the limit, if the title does not tell it.
    public func print(atMost limit: Double, _ what: String = "") {
        print(limit, "", what, miss: value / limit)
    }

    /// Prints the figure with the least that it must be.
    public func print(atLeast limit: Double) { print(limit, " or more", "", miss: limit / value) }

    private func print(_ limit: Double, _ direction: String, _ what: String, miss: Double) {
        let number = value < 100 ? String(format: "%.3g", value) : String(format: "%.0f", value)
        let verdict = miss <= 1 ? "holds" : String(format: "missed by %.2f times", miss)
        let details = what.isEmpty ? "" : " (\(what))"
        Swift.print("\(title): \(number) \(unit), limit \(Self.plain(limit))\(direction)\(details): \(verdict)")
    }

    private static func plain(_ limit: Double) -> String {
        limit == limit.rounded() ? String(Int(limit)) : String(format: "%g", limit)
    }
}

/// Ends the program where something did not do the work that was to be measured.
public func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard condition else {
        FileHandle.standardError.write(Data("\(what())\n".utf8))
        exit(1)
    }
}
