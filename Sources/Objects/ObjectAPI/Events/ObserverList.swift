import ODataModel
import Synchronization

/// The observers of a database: one for all events, and one for each type of objects. Each part of an event is
/// delivered once, to the observer of the type if there is one.
final class ObserverList<Package: ObjectPackage>: Sendable {
    private struct State {
        var general: (any PackageObserver<Package>)?
        var byType: [QualifiedName: any PackageObserver<Package>] = [:]
        var isListening = false
    }

    private let state = Mutex(State())

    /// Sets an observer, and begins to listen with the first one.
    ///
    /// - Parameter type: the type of objects; `nil` for all events.
    func set(_ observer: (any PackageObserver<Package>)?, for type: QualifiedName?, hub: EventHub<Package>) {
        let begins = state.withLock { state in
            if let type { state.byType[type] = observer } else { state.general = observer }
            defer { state.isListening = state.isListening || observer != nil }
            return observer != nil && !state.isListening
        }
        guard begins else { return }
        let events = hub.events()
        Task { for await event in events { await self.deliver(event) } }
    }

    private func deliver(_ event: PackageEvent<Package>) async {
        let (general, byType) = state.withLock { ($0.general, $0.byType) }
        switch event {
        case .replaySucceeded(let successes):
            for (type, parts) in Self.parts(successes, byType, type: { $0.object.type }) {
                await (type.flatMap { byType[$0] } ?? general)?.replaySucceeded(parts)
            }
        case .replayFailed(let failures):
            for (type, parts) in Self.parts(failures, byType, type: { $0.object?.type }) {
                await (type.flatMap { byType[$0] } ?? general)?.replayFailed(parts)
            }
        default: await general?.receive(event)
        }
    }

    /// The parts of an event by the types that have observers, in the order of the types; then the rest.
    private static func parts<Part>(
        _ parts: [Part], _ observers: [QualifiedName: any PackageObserver<Package>],
        type: (Part) -> QualifiedName?
    ) -> [(QualifiedName?, [Part])] {
        let grouped = Dictionary(grouping: parts) { part in
            type(part).flatMap { observers[$0] == nil ? nil : $0 }
        }
        return grouped.map { ($0.key, $0.value) }.sorted { ($0.0?.description ?? "~") < ($1.0?.description ?? "~") }
    }
}
