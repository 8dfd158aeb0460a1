// A program for the tests of pprof-symbolize: templates, inlined calls, methods, names without a namespace, code
// that leaves its function's range. It includes nothing of the C++ library, whose code changes with each version.
#include <stdio.h>
#include <stdlib.h>

namespace shop {
template <typename T> inline __attribute__((always_inline)) T square(T value)
{
	return value * value;
}

template <typename T> inline __attribute__((always_inline)) T cube(T value)
{
	T squared = square(value);
	return squared * value + printf("%d\n", (int)value);
}

struct Item {
	long price, count;
	bool operator<(const Item &other) const;
	virtual long total(long tax) const;
	virtual ~Item() {}
};

__attribute__((noinline)) bool Item::operator<(const Item &other) const
{
	return cube(price) < square(other.price);
}

__attribute__((noinline)) long Item::total(long tax) const
{
	if (count < 0) {
		fputs("no such count\n", stderr);
		abort();
	}
	return cube(price + tax) * count;
}

template <typename T, int N> __attribute__((noinline)) T sum(const T *values)
{
	T all = 0;
	for (int i = 0; i < N; i++)
		all += cube(values[i]);
	return all;
}
} // namespace shop

namespace {
__attribute__((noinline)) int hidden(int x)
{
	return shop::square(x) + printf("%d\n", x);
}
} // namespace

extern "C" __attribute__((noinline)) int plain(int x)
{
	return hidden(x) * 3;
}

int main(int argc, char **argv)
{
	shop::Item one, two;
	one.price = argc;
	two.price = one.count = two.count = argv[0][0];
	const double values[] = {1.5, 2.5, (double)argc};
	const long numbers[] = {1, 2, argc};
	for (int i = 0; i < (argc > 1 ? 600000 : 1); i++) { // with an argument long enough to be sampled
		printf("%g %ld\n", shop::sum<double, 3>(values), shop::sum<long, 3>(numbers));
		printf("%d %ld\n", one < two, two.total(plain(argc)));
	}
	return 0;
}
