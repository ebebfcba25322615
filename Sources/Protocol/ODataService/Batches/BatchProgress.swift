/// A request of a batch, as far as its place among the others goes.
package protocol BatchMember {
    /// Identifies the request within the batch.
    var id: String { get }
    /// The change set that the request belongs to.
    var atomicityGroup: String? { get }
    /// Requests or groups that must have succeeded before, unless there is a condition.
    var dependsOn: [String] { get }
    /// A condition on earlier answers, which decides for itself what the failure of one means.
    var condition: BatchCondition? { get }
    /// The request to do; `nil` for one that cannot be read.
    var item: BatchItem? { get }
}

extension BatchItem: BatchMember {
    package var item: BatchItem? { self }
}

/// The requests of a batch that have failed so far, and the consequences for later ones (OData Protocol 4.01, 11.7.2).
///
/// A batch is done unit by unit: a request that stands alone, or the requests of a change set, which succeed or fail
/// together. The first failure ends the batch unless the client prefers `continue-on-error`. A request that depends on
/// a failed one is answered with 424.
///
/// ```swift
/// var progress = BatchProgress(continuesOnError: request.preferences.continueOnError)
/// for unit in BatchProgress.units(of: items) where !progress.hasEnded {
///     if !succeeds(unit) { progress.fail(unit) }
/// }
/// ```
package struct BatchProgress: Sendable {
    private let continuesOnError: Bool
    /// The ids of failed requests and of their groups.
    package private(set) var failed: Set<String> = []

    /// Begins with a batch of which nothing is done yet.
    package init(continuesOnError: Bool) { self.continuesOnError = continuesOnError }

    /// Whether a failure has ended the batch: later requests have no answer.
    package var hasEnded: Bool { !continuesOnError && !failed.isEmpty }

    /// Divides a batch into units.
    package static func units<Member: BatchMember>(of members: [Member]) -> [[Member]] {
        var units: [[Member]] = []
        for member in members {
            if let group = member.atomicityGroup, units.last?.last?.atomicityGroup == group {
                units[units.count - 1].append(member)
            } else {
                units.append([member])
            }
        }
        return units
    }

    /// Notes that the requests of a unit failed.
    package mutating func fail(_ unit: [some BatchMember]) {
        for member in unit {
            failed.insert(member.id)
            if let group = member.atomicityGroup { failed.insert(group) }
        }
    }

    /// Returns the refusal, 424, of a request whose dependencies include one that failed.
    package func refusal(dependingOn ids: [String]) -> ODataError? {
        ids.first(where: failed.contains).map {
            ODataError(
                status: 424, code: "FailedDependency",
                message: "The request '\($0)', on which this one depends, was refused.")
        }
    }

    /// Returns the refusal of a request because of earlier failures; `nil` for one with a condition.
    package func refusal(of member: some BatchMember) -> ODataError? {
        member.condition == nil ? refusal(dependingOn: member.dependsOn) : nil
    }
}
