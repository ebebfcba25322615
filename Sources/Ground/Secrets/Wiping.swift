import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Overwrites memory in a way that no optimiser removes.
///
/// - Parameter memory: The memory that contained a secret.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let address = memory.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(address, memory.count, 0, memory.count)
    #else
        explicit_bzero(address, memory.count)
    #endif
}

/// Overwrites the bytes of an array and empties the array. Other copies of it are not affected.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { wipe($0) }
    bytes = []
}

/// Overwrites the bytes of data and empties the data. Other copies of it are not affected.
package func wipe(_ data: inout Data) {
    data.withUnsafeMutableBytes { wipe($0) }
    data = Data()
}
