import ODataModel

/// The subscriptions of a package: the rows that are synchronized. Each subscription of a set adds rows, and rows that
/// several of them name are stored once.
///
/// ```swift
/// try await crm.subscriptions.add(CustomerSubscription())                // follows the personalization key
/// try await crm.subscriptions.add(CustomerSubscription(region: "West"))
/// for subscription in try await crm.subscriptions.all() { print(subscription.entitySet, subscription.arguments) }
/// ```
public struct PackageSubscriptions<Package: ObjectPackage>: Sendable {
    let database: PackageDatabase<Package>

    /// Adds a subscription. The next synchronization brings its rows.
    ///
    /// - Throws: ``ObjectError/missingArgument(name:of:)`` for an argument that is `nil` and has neither a
    ///   personalization key nor a default; `OfflineError`.
    public func add<Parameters: SubscriptionParameters>(_ parameters: Parameters) async throws
    where Parameters.Package == Package {
        try await change(Parameters.entitySet) { try await $0.add(parameters.arguments, to: $1) }
    }

    /// Removes a subscription. Rows that no other subscription names go at once; rows with changes stay until these are
    /// accepted.
    ///
    /// - Returns: whether there was such a subscription.
    @discardableResult
    public func remove<Parameters: SubscriptionParameters>(_ parameters: Parameters) async throws -> Bool
    where Parameters.Package == Package {
        try await change(Parameters.entitySet) { try await $0.remove(parameters.arguments, of: $1) }
    }

    /// Removes a subscription as ``all()`` has returned it.
    @discardableResult
    public func remove(_ subscription: PackageSubscription) async throws -> Bool {
        try await change(subscription.entitySet) { try await $0.remove(subscription.arguments, of: $1) }
    }

    /// Returns all subscriptions of the package.
    public func all() async throws -> [PackageSubscription] { try await database.keeper.all().map { $0.subscription } }

    /// Returns the subscriptions of one entity set.
    public func all<Parameters: SubscriptionParameters>(_ type: Parameters.Type) async throws -> [PackageSubscription]
    where Parameters.Package == Package {
        try await database.keeper.all(of: Parameters.entitySet).map { $0.subscription }
    }

    private func change<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable (SubscriptionKeeper, PackageModel.SynchronizedSet) async throws -> Value
    ) async throws -> Value {
        guard let set = database.package.sets[name] else { throw ObjectError.noSuchEntity(name: name) }
        let keeper = database.keeper
        return try await database.queue.perform { try await body(keeper, set) }
    }
}
