import ODataQuery
import ODataService

extension ChangeSetReferences {
    /// Refers by content id to the entity that an action is bound to, if the change set creates this entity. Only
    /// the URL can hold a content id; parameters cannot.
    ///
    /// - Returns: ``Mention/apart`` if the call needs another key that only the service assigns.
    func bind(_ message: inout ODataRequest, _ request: QueuedRequest) -> Mention {
        let segments = message.url.path.segments
        var named: Set<String> = []
        // The longest address counts: an entity that is addressed through its container needs no key of its own.
        for end in segments.indices {
            let address = ODataURL(path: ResourcePath(Array(segments[...end]))).description
            guard let creation = created.first(where: { $0.request.entityText == address }) else { continue }
            let reference = PathSegment.name(Identifier("$\(creation.id)"), .none)
            message.url.path.segments = [reference] + segments.dropFirst(end + 1)
            named.insert(creation.id)
        }
        let needsOthers = created.contains {
            !$0.isKeyKnown && !named.contains($0.id) && request.dependsOn.contains($0.request.id)
        }
        return needsOthers ? .apart : .inPath
    }
}
