import OfflineOData

extension StoreOptions {
    /// Opens the store without a connection, runs a body, and closes the store even after an error.
    func reading<Value>(_ body: (OfflineStore) async throws -> Value) async throws -> Value {
        let provider = try await open()
        do {
            let value = try await body(provider)
            try provider.close()
            return value
        } catch {
            try? provider.close()
            throw error
        }
    }
}
