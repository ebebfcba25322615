extension OfflineStore {
    /// Assumptions about a service with incomplete metadata.
    ///
    /// ```swift
    /// var options = OfflineStore.Options()
    /// options.service.capabilities.supportsPatch = false
    /// ```
    public struct ServiceOptions: Sendable {
        /// The stated capabilities; by default the engine finds them out.
        public var capabilities = StatedCapabilities()
        /// The offset of instants that the service writes in JSON without one, in minutes from −840 to 840, 0 for
        /// UTC. `nil`, the default, for no assumption: such values are unreadable
        /// (``SyncOptions/refusesUnreadableValues``).
        public var assumedOffset: Int?
        /// The place of the `Content-ID` in requests of a change set; ``ContentIDLocation/mime`` by default. It
        /// can change while the store is open.
        public var contentIDLocation = ContentIDLocation.mime

        /// Makes options with the defaults.
        public init() {}
    }

    /// The place of the `Content-ID` of a request in a multipart batch.
    public enum ContentIDLocation: Hashable, Sendable {
        /// Among the fields of the part, as OData 4 has it.
        case mime
        /// Among the fields of the request in the part, as some older services expect it.
        case operation
    }
}
