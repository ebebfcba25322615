import OfflineOData

extension StoreOptions {
    /// Opens the store without a connection, uses it, and closes it whatever happened.
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
