/// A request of a batch, with its position and dependencies.
package protocol BatchMember {
    var id: String { get }
    /// The name of the change set that the request belongs to; `nil` for a request outside change sets.
    var atomicityGroup: String? { get }
    /// The ids of requests or groups that must succeed first; ignored if the request has a ``condition``.
    var dependsOn: [String] { get }
    /// The condition on earlier responses, which takes the place of ``dependsOn``.
    var condition: BatchCondition? { get }
    /// The request to execute; `nil` if it cannot be read.
    var item: BatchItem? { get }
}

extension BatchItem: BatchMember {
    package var item: BatchItem? { self }
}

/// The requests of a batch that have failed, and the consequences for later ones (OData Protocol 4.01, 11.7.2).
///
/// A batch is executed unit by unit. A unit is a single request or a change set, whose requests succeed or fail
/// together. The first failure ends the batch unless the client prefers `continue-on-error`. A request that depends
/// on a failed one is refused with 424.
///
/// ```swift
/// var progress = BatchProgress(continuesOnError: request.preferences.continueOnError)
/// for unit in BatchProgress.units(of: items) where !progress.hasEnded {
///     if !succeeds(unit) { progress.fail(unit) }
/// }
/// ```
package struct BatchProgress: Sendable {
    private let continuesOnError: Bool
    /// The ids of failed requests and the names of their change sets.
    package private(set) var failed: Set<String> = []

    /// Creates the state of a batch before its first request.
    package init(continuesOnError: Bool) { self.continuesOnError = continuesOnError }

    /// Whether a failure has ended the batch, so that later requests get no response.
    package var hasEnded: Bool { !continuesOnError && !failed.isEmpty }

    /// Divides a batch into units: single requests and change sets.
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

    /// Records that the requests of a unit failed.
    package mutating func fail(_ unit: [some BatchMember]) {
        for member in unit {
            failed.insert(member.id)
            if let group = member.atomicityGroup { failed.insert(group) }
        }
    }

    /// Returns a 424 error if one of the given requests or change sets has failed.
    package func refusal(dependingOn ids: [String]) -> ODataError? {
        ids.first(where: failed.contains).map {
            ODataError(
                status: 424, code: "FailedDependency",
                message: "The request '\($0)', on which this one depends, was refused.")
        }
    }

    /// Returns the error of a request that depends on a failed one; `nil` if the request has a condition.
    package func refusal(of member: some BatchMember) -> ODataError? {
        member.condition == nil ? refusal(dependingOn: member.dependsOn) : nil
    }
}
