#include "support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <stdexcept>

namespace hf::test {
namespace {

constexpr long kDay = 86400;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("certificate: ") + what);
}

Certificate blank(EVP_PKEY* key, const std::string& name, long seconds_left) {
  static long serial = 1;
  Certificate certificate(X509_new(), &X509_free);
  need(certificate != nullptr, "no memory");
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds_left);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

void extend(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  need(extension != nullptr, "extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Key new_key() {
  Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  need(key != nullptr, "key");
  return key;
}

File opened(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "w"), &std::fclose);
  need(file != nullptr, "file");
  return file;
}

}  // namespace

struct Authority::Pair {
  Key key = new_key();
  Certificate certificate{nullptr, &X509_free};
};

Authority::Authority(const std::string& name) : self_(std::make_unique<Pair>()) {
  self_->certificate = blank(self_->key.get(), name, kDay);
  X509* certificate = self_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  need(X509_sign(certificate, self_->key.get(), EVP_sha256()) > 0, "signature");
}

Authority::~Authority() = default;

void Authority::save(const std::filesystem::path& file) const {
  need(PEM_write_X509(opened(file).get(), self_->certificate.get()) == 1, "writing");
}

void Authority::issue(const std::filesystem::path& file, const std::string& names, long seconds_left) const {
  const Key key = new_key();
  const Certificate certificate = blank(key.get(), "test server", seconds_left);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(self_->certificate.get()));
  extend(certificate.get(), NID_subject_alt_name, names);
  need(X509_sign(certificate.get(), self_->key.get(), EVP_sha256()) > 0, "signature");
  const File out = opened(file);
  need(PEM_write_X509(out.get(), certificate.get()) == 1, "writing");
  need(PEM_write_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1, "writing");
}

}  // namespace hf::test
