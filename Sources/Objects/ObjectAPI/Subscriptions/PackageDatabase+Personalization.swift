/// The personalization keys of a package.
extension PackageDatabase {
    private var personalizationStore: PersonalizationStore { PersonalizationStore(store: store, package: package) }

    /// Returns the personalization keys with their current values. A key that was never set has its default.
    public func personalization() async throws -> Package.Personalization {
        Package.Personalization(values: PersonalizationValues(try await personalizationStore.values()))
    }

    /// Saves the personalization keys that changed. Subscriptions that follow them bring other rows with the next
    /// synchronization.
    ///
    /// Keys of the device are kept in the database. Keys of the session are kept in memory, until the database is
    /// closed. Keys of the service are also queued, and reach the service and the user's other devices with the next
    /// synchronizations. A key that is set to `nil` has its default again.
    ///
    /// ```swift
    /// var keys = try await crm.personalization()
    /// keys.territory = "North"
    /// try await crm.save(keys)
    /// ```
    /// - Throws: ``ObjectError/invalidType(name:expected:)``, `OfflineError`.
    public func save<Keys: PersonalizationKeys>(_ keys: Keys) async throws where Keys.Package == Package {
        let (keeper, values) = (personalizationStore, keys.values.all)
        try await queue.perform { try await keeper.save(values) }
    }
}
